/** A day with the app: find anything, undo anything, keep layouts, hear of what goes wrong. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, pressTwo, Server } from "./harness";

async function names(page: Page): Promise<string[]> {
  return page.locator("[data-run] .run-name").allTextContents();
}

async function palette(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: /Find a page/ });
  await box.fill(text);
  await page.locator("dialog[open] [role=option]").first().waitFor();
}

/** The palette closes once it has done what was chosen; only then the page hears keys again. */
async function choose(page: Page): Promise<void> {
  await page.keyboard.press("Enter");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
}

describe.skipIf(noBrowser)("everyday comfort", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start("usual");
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  test("the palette goes anywhere, does anything and finds everything", async () => {
    const { page, context, errors } = await openTab(server);
    await page.locator("[data-run]").first().waitFor();
    await palette(page, "otter-10");
    await page.getByRole("option", { name: /brave-otter-10/ }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await choose(page);
    await page.waitForURL(/#\/run\//);
    await page.getByText("brave-otter-10").first().waitFor();

    await palette(page, "chart");
    await page.locator("[role=option][aria-selected=true]", { hasText: "Charts" }).waitFor();
    await choose(page);
    await page.waitForURL(/#\/charts/);
    await palette(page, "theme dark");
    await page.locator("[role=option][aria-selected=true]", { hasText: /dark/i }).waitFor();
    await choose(page);
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");

    await palette(page, "zero-grad");
    await page.getByRole("option", { name: /gradients of earlier steps/ }).click();
    await page.waitForURL(/part=findings/);

    await page.keyboard.press("Control+k");
    await page.getByText("Used last").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" });

    for (const [keys, title] of [
      ["r", "Runs"],
      ["p", "Profile"],
      ["r", "Runs"],
    ] as const) {
      await pressTwo(page, "g", keys);
      await page.locator(`.tab[aria-current="page"]`, { hasText: title }).waitFor();
    }
    expect(errors).toEqual([]);
    await context.close();
  });

  test("deleting asks, tells and can be undone; so can tags and columns", async () => {
    const { page, context, errors } = await openTab(server);
    const row = page.locator("[data-run]");
    await row.first().waitFor();
    const before = await names(page);
    await row.nth(1).getByRole("checkbox").check();
    await row.nth(2).getByRole("checkbox").check();
    await page.keyboard.press("Delete");
    const dialog = page.getByRole("dialog", { name: "Delete 2 runs?" });
    await dialog.getByText(/KiB on the disk/).waitFor();
    await expect
      .poll(() => dialog.locator("li").allTextContents())
      .toEqual(before.slice(1, 3).map((name) => `${name} vae`));
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("22 runs", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("24 runs", { exact: true }).waitFor();
    await expect.poll(() => names(page)).toEqual(before);

    await row.nth(3).getByRole("checkbox").check();
    await page.keyboard.press("e");
    await page.getByText(/^Archived /).waitFor();
    await page.getByText("23 of 24 runs").waitFor();
    await page.keyboard.press("Control+z");
    await page.getByText("24 runs", { exact: true }).waitFor();

    await row.first().getByRole("button", { name: "Add a tag" }).click();
    await page.getByRole("textbox", { name: "New tag" }).fill("keeper");
    await page.keyboard.press("Enter");
    await row.first().getByText("keeper").waitFor();
    await page.keyboard.press("Control+z");
    await row.first().getByText("keeper").waitFor({ state: "detached" });
    await page.keyboard.press("Control+Shift+z");
    await row.first().getByText("keeper").waitFor();

    await row.nth(5).getByRole("checkbox").check();
    await page.keyboard.press("Delete");
    await page.getByRole("dialog", { name: "Delete this run?" }).getByText(/KiB/).waitFor();
    // The keyboard stands on Cancel: what cannot be wanted by accident takes one key more.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("23 runs", { exact: true }).waitFor();
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Trash…" }).click();
    await page.getByRole("dialog", { name: "Trash" }).getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText("The trash is empty").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("24 runs", { exact: true }).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });

  test("layouts come back, views are shared, a link wins over both", async () => {
    const { page, context, errors } = await openTab(server);
    await page
      .getByRole("columnheader", { name: /latent/ })
      .locator(".head-button")
      .first()
      .click();
    await page.waitForURL(/sort=config.latent/);
    // The layout is kept a moment after it was changed; a page that is opened then has it.
    await expect.poll(() => page.evaluate(() => JSON.stringify({ ...localStorage }))).toContain("config.latent");
    const second = await context.newPage();
    await second.goto(`${server.url}/#/runs`);
    await second.waitForURL(/sort=config.latent/);
    await second.goto(`${server.url}/#/charts`);
    await second.goto(`${server.url}/?again#/runs?sort=name`);
    await second.waitForURL(/sort=name/);
    await second.close();
    await page.keyboard.press("Control+z");
    await expect.poll(() => page.url()).not.toContain("sort=");

    await page.goto(`${server.url}/#/runs?q=status+=+failed`);
    await page.getByText("1 of 24 runs").waitFor();
    await page.getByRole("button", { name: "Saved views" }).click();
    await page.getByLabel("Name of the view").fill("What failed");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const line = page.getByRole("button", { name: /What failed Runs/ });
    await line.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Open Runs with What failed" }).click();
    await page.getByText("Runs, default").waitFor();
    await page.keyboard.press("Escape");

    const other = await openTab(server, ""); // somebody else, with nothing in the address
    await other.page.getByText("1 of 24 runs").waitFor();
    await other.page.getByRole("button", { name: "Saved views" }).click();
    await other.page.getByRole("button", { name: "Delete What failed" }).click();
    await other.page.getByText("Deleted view “What failed”").waitFor();
    await other.context.close();
    expect([errors, other.errors]).toEqual([[], []]);
    await context.close();
  });

  test("what goes wrong is told once, kept under the bell, and can be muted", async () => {
    const { page, context, errors } = await openTab(server);
    await server.tell("start noble-lynx");
    await page.getByRole("link", { name: "noble-lynx" }).waitFor();
    await server.tell("nan");
    await page.locator(".toast").getByText("train/loss is NaN in noble-lynx").waitFor();
    await server.tell("find the gradients pile up");
    const bell = page.getByRole("button", { name: "Notifications, 2 new" });
    await bell.click();
    const list = page.getByRole("dialog", { name: "Notifications" });
    await list.getByText("opt.no-zero-grad · train.py:3").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await list.getByRole("button", { name: "Mute noble-lynx…" }).first().click();
    await list.getByRole("button", { name: "this run" }).click();
    await list.getByText("No notifications of this kind.").waitFor();
    await page.keyboard.press("Escape");
    await server.tell("alert a quiet one");
    await server.tell("end");
    await page.locator(".status", { hasText: "running" }).waitFor({ state: "detached" });
    await expect.poll(() => page.getByText("a quiet one").count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "Notifications", exact: true }).count()).toBe(1);
    expect(errors).toEqual([]);
    await context.close();
  });

  test("a server that was started anew is found again, once the browser has its new token", async () => {
    const { page, context } = await openTab(server, "#/runs?q=status+=+failed");
    await page.getByText("1 of 25 runs").waitFor();
    await server.restart();
    await page.getByText(/Access ended/).waitFor();
    await expect.poll(() => page.locator("[data-run]").count()).toBe(1); // what was known stays on the screen
    const other = await context.newPage();
    await other.goto(server.address);
    await page.getByRole("status").getByText("Live").waitFor();
    await server.tell("start after-the-restart");
    await page.getByText("1 of 26 runs").waitFor();
    await context.close();
  });

  test("on a phone the pages are in a menu and nothing is cut off", async () => {
    const { page, context } = await openTab(server);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.locator("[data-run]").first().waitFor();
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    for (const name of ["Columns", "More", "Saved views"])
      await expect
        .poll(async () => (await page.getByRole("button", { name, exact: true }).boundingBox())?.x ?? 999)
        .toBeLessThan(390);
    await page.getByRole("button", { name: "Pages: Runs" }).click();
    await page.getByRole("menuitemradio", { name: "Charts" }).click();
    await page.waitForURL(/#\/charts/);
    await context.close();
  });
});
