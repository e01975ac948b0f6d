/** A team's server in a real browser: people, storage, comments that reach whom they name, where an artifact comes from. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, idsOf, noBrowser, openTab, quiet, Server, still, type Tab } from "./harness";

/** `STEPSCOPE_SHOTS=folder`: pictures to look at. */
const SHOTS = process.env.STEPSCOPE_SHOTS;

async function checked(page: Page, name: string, options = { headings: true }): Promise<void> {
  await quiet(page);
  await still(page, "main");
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    if (SHOTS) {
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: join(SHOTS, `${name}-${theme}.png`) });
    }
    expect(await axeFaults(page, theme === "dark" ? { only: ["color-contrast"] } : options)).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
}

describe.skipIf(noBrowser)("a team's server", () => {
  let server: Server;
  let ada: Tab;
  let bo: Tab;
  let ids: Map<string, string>;
  beforeAll(async () => {
    server = await Server.start("team");
    ada = await openTab(server);
    bo = await openTab(server, "#/runs", { address: await server.invite("bo") });
    ids = await idsOf(ada.page);
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  const at = async (tab: Tab, hash: string): Promise<Page> => {
    await tab.page.goto(`${server.url}/#${hash}`);
    return tab.page;
  };
  const newest = () => [...ids].find(([name]) => name.endsWith("-0"))?.[1] as string;

  test("an admin makes and revokes a token, adds a user, gives a role, and the audit log has it", async () => {
    const page = await at(ada, "/people");
    await page.getByRole("heading", { name: "ada", level: 1 }).waitFor();
    await page.getByLabel("Name of the new token").fill("gpu-box");
    await page.getByRole("button", { name: "Make a token" }).click();
    const secret = await page.locator(".people-secret code").textContent();
    expect(secret?.length).toBeGreaterThan(30);
    await page.getByRole("button", { name: "Done" }).click();
    await expect.poll(() => page.locator("body").textContent()).not.toContain(secret);
    const row = page.getByRole("row").filter({ hasText: "gpu-box" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => row.count()).toBe(0);

    const users = page.getByRole("region", { name: "Users" });
    await users.getByLabel("Name of the new user").fill("dee");
    await users.getByRole("button", { name: "Add and invite" }).click();
    await expect.poll(() => page.locator(".people-secret code").textContent()).toContain(`${server.url}/?token=`);
    const dee = users.getByRole("row").filter({ hasText: "dee" });
    await dee.getByRole("button", { name: "Add email" }).click();
    await dee.getByLabel("Email address of dee").fill("dee@example.org");
    await dee.getByRole("button", { name: "Save" }).click();
    await dee.getByRole("button", { name: "dee@example.org" }).waitFor();
    await checked(page, "people");

    const roles = page.getByRole("region", { name: "Roles" });
    await roles.getByLabel("Project", { exact: true }).selectOption("gpt");
    await roles.getByLabel("Name of the user").fill("cy");
    await roles.getByRole("button", { name: "Give the role" }).click();
    await roles.getByRole("row").filter({ hasText: "cy" }).waitFor();

    const teams = page.getByRole("region", { name: "Teams" });
    await teams.getByLabel("Name of the team").fill("vision");
    await teams.getByLabel("Users in the team").fill("bo, cy");
    await teams.getByRole("button", { name: "Add the team" }).click();
    await teams.getByRole("row").filter({ hasText: "bo, cy" }).waitFor();
    await roles.getByLabel("User or team").selectOption("team");
    await roles.getByLabel("Name of the team").fill("vision");
    await roles.getByRole("button", { name: "Give the role" }).click();
    await roles.getByRole("row").filter({ hasText: "team vision" }).waitFor();
    await checked(page, "people-teams");
    await teams.getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => teams.getByRole("row").count()).toBe(0);
    await page.reload();
    const audit = page.getByRole("region", { name: "Audit log" });
    for (const words of ["tokens/make", "people/add", "members/set", "teams/set"])
      await audit.getByRole("cell", { name: words }).first().waitFor();
    expect([ada.errors, ada.strangers]).toEqual([[], []]);
  });

  test("whoever is no admin sees their tokens and nothing of the others", async () => {
    const page = await at(bo, "/people");
    await page.getByText("writer in every project").waitFor();
    await page.getByRole("heading", { name: "Tokens" }).waitFor();
    for (const name of ["Users", "Roles", "Audit log"])
      expect(await page.getByRole("heading", { name }).count()).toBe(0);
  });

  test("a view-only link shows its run to a guest and nothing else, until it is revoked", async () => {
    const page = await at(ada, `/run/${newest()}`);
    await page.getByRole("button", { name: "More about this run" }).click();
    await page.getByRole("menuitem", { name: "Make a view-only link …" }).click();
    const dialog = page.getByRole("dialog", { name: "View-only link to this run" });
    await dialog.getByLabel("Recipient of the link").fill("a reviewer");
    await dialog.getByRole("button", { name: "Make a link" }).click();
    const address = (await dialog.locator(".people-secret code").textContent()) ?? "";
    await checked(page, "view-link", { headings: false });
    await page.keyboard.press("Escape");

    const guest = await openTab(server, "", { address });
    const name = [...ids].find(([, id]) => id === newest())?.[0] as string;
    await guest.page.getByRole("heading", { name, level: 1 }).waitFor();
    expect(await guest.page.getByRole("button", { name: "Rename" }).count()).toBe(0);
    await guest.page.goto(`${server.url}/#/runs`);
    await guest.page.getByText("1 run", { exact: true }).waitFor();
    await checked(guest.page, "guest");

    await at(ada, "/people");
    const row = page
      .getByRole("region", { name: "View-only links" })
      .getByRole("row")
      .filter({ hasText: "a reviewer" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => row.count()).toBe(0);
    await guest.page.reload();
    if (SHOTS) await guest.page.screenshot({ path: join(SHOTS, "revoked.png") });
    await expect.poll(() => guest.page.getByText(name).count()).toBe(0);
    await guest.page.goto(address);
    await guest.page.getByText(/was revoked/).waitFor();
    expect(ada.errors).toEqual([]);
  });

  test("storage says what fills the server; a policy is previewed and saved", async () => {
    const page = await at(ada, "/storage");
    // The housekeeper measures runs in the background.
    const row = page.getByRole("row").filter({ has: page.getByRole("button", { name: "vae", exact: true }) });
    await expect
      .poll(async () => {
        await page.reload();
        await quiet(page);
        return row.count();
      })
      .toBe(1);
    await row.getByRole("button", { name: "vae", exact: true }).click();
    await expect
      .poll(() =>
        page
          .getByRole("region", { name: /argest runs/ })
          .getByRole("row")
          .count(),
      )
      .toBeGreaterThan(2);
    await checked(page, "storage");
    await row.getByRole("button", { name: "Change" }).click();
    const days = page.getByRole("textbox", { name: /points/i });
    await days.fill("7");
    await page.getByRole("button", { name: "Preview" }).click();
    await page
      .getByText(/would be removed|Nothing would be removed/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(() => row.textContent()).toContain("7 days");
    expect([ada.errors, ada.strangers]).toEqual([[], []]);
  });

  test("a comment on a run reaches whom it names while they look at another page", async () => {
    await at(bo, "/charts");
    const page = await at(ada, `/run/${newest()}`);
    const box = page.getByRole("textbox", { name: "Comment" });
    await box.click();
    await page.keyboard.type("Look at the end, @b");
    await page.getByRole("button", { name: "@bo" }).click();
    await expect.poll(() => box.inputValue()).toContain("@bo");
    await box.press("Control+Enter");
    await page.locator(".comments li").filter({ hasText: "Look at the end, @bo" }).waitFor();
    await checked(page, "comments", { headings: false });

    await bo.page.getByRole("button", { name: "Notifications, 1 new" }).click();
    await bo.page.getByRole("link", { name: /ada mentioned you/ }).click();
    await expect.poll(() => bo.page.url()).toContain(newest());
    await bo.page.locator(".comments li").filter({ hasText: "Look at the end" }).waitFor();
    expect(await bo.page.locator(".comments li").getByRole("button", { name: "Remove" }).count()).toBe(0);
    await bo.page.getByRole("textbox", { name: "Comment" }).fill("I see it");
    await bo.page.getByRole("button", { name: "Comment", exact: true }).click();
    await page.locator(".comments li").filter({ hasText: "I see it" }).waitFor(); // without a reload
    await bo.page.reload();
    await bo.page.getByRole("button", { name: "Notifications", exact: true }).waitFor(); // it was seen
    expect([ada.errors, bo.errors]).toEqual([[], []]);
  });

  test("a chart is commented at a step, and the comment leads back to it", async () => {
    const page = await at(ada, `/run/${newest()}?part=charts`);
    const panel = page.locator('.panel[data-key="train/loss"]');
    await panel.getByRole("button", { name: "Panel menu" }).click();
    await page.getByRole("menuitem", { name: "Comments…" }).click();
    const dialog = page.getByRole("dialog", { name: "Comments on train/loss" });
    await dialog.getByRole("textbox", { name: "Comment" }).fill("the warm-up ends here");
    await dialog.getByLabel("Step").fill("30");
    await dialog.getByRole("button", { name: "Comment", exact: true }).click();
    await dialog.locator("li").filter({ hasText: "the warm-up ends here" }).waitFor();
    await checked(page, "chart-comments", { headings: false });
    await page.keyboard.press("Escape");
    await at(ada, `/run/${newest()}`);
    await page.getByRole("link", { name: "train/loss, step 30" }).click();
    await page.locator('.panel[data-large][data-key="train/loss"]').waitFor();
    await page.getByRole("button", { name: "Step 30" }).waitFor();
    expect(ada.errors).toEqual([]);
  });

  test("a report is commented, and the author takes it back", async () => {
    const page = await at(ada, "/reports");
    await page
      .getByRole("link", { name: /Results of the week/ })
      .first()
      .click();
    await page.getByRole("textbox", { name: "Comment" }).fill("Well written, @bo!");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    const said = page.locator(".comments li").filter({ hasText: "Well written" });
    await said.waitFor();
    await checked(page, "report-comments");
    await at(bo, "/runs");
    await bo.page.getByRole("button", { name: "Notifications, 1 new" }).click();
    await bo.page.getByRole("link", { name: /ada mentioned you/ }).click();
    await bo.page.locator(".comments li").filter({ hasText: "Well written" }).waitFor();
    await said.getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => said.count()).toBe(0);
    await expect.poll(() => bo.page.locator(".comments li").count()).toBe(0);
    expect([ada.errors, bo.errors]).toEqual([[], []]);
  });

  test("the lineage of a model shows who made it and who used it, and leads there", async () => {
    const page = await at(ada, `/run/${ids.get("train")}?part=files`);
    const graph = page.getByRole("region", { name: "Lineage" });
    for (const name of ["train", "model", "evaluate", "distill", "small-model"])
      await graph.locator(".lineage-box").filter({ hasText: name }).first().waitFor();
    expect(await graph.locator(".lineage-line").count()).toBe(4);
    await graph.scrollIntoViewIfNeeded();
    await checked(page, "lineage");
    await graph.locator(".lineage-box").filter({ hasText: "evaluate" }).click();
    await page.getByRole("heading", { name: "evaluate", level: 1 }).waitFor();
    expect([ada.errors, ada.strangers]).toEqual([[], []]);
  });
});
