/** A run's own page: why it failed, how to make it again, what can be edited, and what each part has or lacks. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, quiet, Server, still, type Tab } from "./harness";

const PARTS = [
  "Overview",
  "Charts",
  "Findings",
  "Media",
  "Distributions",
  "Model",
  "Profile",
  "Console",
  "System",
  "Ranks",
  "Files",
  "Step",
];

describe.skipIf(noBrowser)("a run's page", () => {
  let server: Server;
  let tab: Tab;
  let page: Page;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    server = await Server.start("run");
    tab = await openTab(server);
    page = tab.page;
    await tab.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url });
    await page.locator("[data-run]").nth(2).waitFor();
    await quiet(page);
    for (const row of await page.locator("[data-run]").all())
      ids.set((await row.locator(".run-name").textContent()) ?? "", (await row.getAttribute("data-run")) ?? "");
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  const open = async (name: string, query = "") => {
    await page.goto(`${server.url}/#/run/${ids.get(name)}${query}`);
    await page.getByRole("heading", { level: 1, name }).waitFor();
  };
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  test("tells why it diverged: the error, the findings, their proof", async () => {
    await open("small-lm-08-wide");
    await page
      .getByRole("region", { name: "Error" })
      .getByText("FloatingPointError: loss is nan at step 2400")
      .first()
      .waitFor();
    await page.getByRole("img", { name: /train\/loss over Step/ }).waitFor();
    await expect.poll(() => page.getByRole("tab", { name: /Findings/ }).textContent()).toBe("Findings4, 4 findings");
    expect(await axeFaults(page, { include: ".run-page" })).toEqual([]);

    await page.getByRole("link", { name: /gradients grow by a factor of 300/ }).click();
    const card = page.locator('[data-finding="grad.exploding:1"]');
    await card.locator(".evidence svg").nth(1).waitFor();
    await expect.poll(() => card.getAttribute("data-wanted")).toBe("true");
    await expect.poll(() => card.evaluate((one) => document.activeElement === one)).toBe(true);
    await expect
      .poll(() =>
        page.evaluate(() => [
          document.scrollingElement?.scrollTop,
          document.querySelector(".topbar")?.getBoundingClientRect().top,
        ]),
      )
      .toEqual([0, 0]);
    await expect.poll(async () => (await card.boundingBox())?.y).toBeLessThan(300);
    await expect.poll(() => card.locator(".evidence-bars li").first().textContent()).toBe("head41.2");
    await expect.poll(() => card.locator(".evidence-mark").count()).toBe(2);
    await expect.poll(() => card.locator(".evidence-odd").count()).toBeGreaterThan(0);
    expect(await axeFaults(page, { include: ".run-page" })).toEqual([]);

    await card.getByRole("button", { name: "Copy the link to this finding" }).click();
    await expect.poll(clipboard).toMatch(/#\/run\/\w+\?part=findings&finding=grad\.exploding:1$/);
    const link = await clipboard();
    await card.getByRole("button", { name: "Copy as Markdown" }).click();
    await expect.poll(clipboard).toContain("> 85 |         loss.backward()");

    await page.goto(link.replace(":1", ":9"));
    await page.getByText("which this run does not have").waitFor();
    await page.getByRole("button", { name: "2 errors" }).click();
    await expect.poll(() => page.locator(".finding").count()).toBe(2);
    await page.getByRole("combobox", { name: "Rule" }).selectOption("data.worker-seed");
    await expect
      .poll(() => page.locator(".finding strong").allTextContents())
      .toEqual(["the loader's workers all draw the same numbers"]);
  });

  test("tells how to make it again, and from which code", async () => {
    await open("small-lm-08-wide");
    await page.getByRole("button", { name: "Copy commands to reproduce" }).click();
    await expect.poll(clipboard).toContain("END_OF_DIFF");
    const commands = await clipboard();
    for (const part of [
      "cd /home/ada/small-lm\ngit checkout 4f2a91c7",
      "apply <<'END_OF_DIFF'\ndiff --git",
      "export OMP_NUM_THREADS=8\n",
      "--note 'no warm-up'\n",
    ])
      expect(commands).toContain(part);
    expect(commands).not.toContain("SLURM");
    await expect
      .poll(() => page.getByRole("link", { name: "4f2a91c7d8e0" }).getAttribute("href"))
      .toContain("https://github.com/ada/small-lm/commit/4f2a");

    const changes = page.getByRole("region", { name: "Changes that were not committed" });
    await expect
      .poll(() => changes.locator(".diff-head").allTextContents())
      .toEqual(["model.py+3 −2", "train.py+1 −2", "configs/wide.yamladded+4 −0"]);
    await expect.poll(() => changes.locator('[data-kind="removed"]').nth(2).textContent()).toBe("64−        lr=3e-4,");
    await changes.getByRole("button", { name: /train\.py/ }).click();
    await expect.poll(() => changes.locator('[data-kind="removed"]').count()).toBe(2);

    await page.getByRole("textbox", { name: "Find in Config" }).fill("lr");
    await expect
      .poll(() => page.getByRole("region", { name: "Config" }).locator("dt").allTextContents())
      .toEqual(["lr"]);
    await page.getByRole("textbox", { name: "Find in Packages" }).fill("torch");
    await expect
      .poll(() => page.getByRole("region", { name: "Packages" }).locator("dt").allTextContents())
      .toEqual(["torch"]);
    const metrics = page.getByRole("region", { name: "Metrics", exact: true });
    await metrics.locator(".spark").nth(6).waitFor();
    await metrics.getByRole("button", { name: "Max" }).click();
    await expect.poll(() => metrics.locator("tbody th").first().textContent()).toBe("train/tokens_per_s");
    await metrics.getByRole("link", { name: "grad_norm" }).click();
    await page.getByRole("dialog", { name: "grad_norm" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("is renamed and annotated, and news of the run loses nothing that is typed", async () => {
    await server.tell("start going");
    await page.goto(`${server.url}/#/runs`);
    await page.getByRole("link", { name: "going" }).click();
    await page.getByRole("heading", { level: 1, name: "going" }).waitFor();
    await page.getByRole("button", { name: "Add a note" }).click();
    const field = page.getByRole("textbox", { name: "Notes, in Markdown" });
    await field.fill("**bold** and <img src=x onerror=\"document.title='PWNED'\">");
    await page.getByRole("group", { name: "Preview" }).locator("strong", { hasText: "bold" }).waitFor();
    await page
      .locator(".main-charts canvas")
      .first()
      .evaluate((one) => ((one as HTMLElement).dataset.marked = "yes"));
    const points = page.getByRole("region", { name: "Metrics", exact: true }).locator("tbody tr td.number").last();
    await quiet(page);
    const before = await points.textContent();
    await server.tell("log");
    await expect.poll(() => points.textContent()).not.toBe(before);
    await expect.poll(() => field.inputValue()).toContain("**bold**");
    await expect.poll(() => page.locator('.main-charts [data-marked="yes"]').count()).toBe(1);
    await page.getByRole("tab", { name: "System" }).click();
    await page.getByText("No system metrics were recorded").waitFor();
    await page.goBack();
    await field.press("Control+Enter");
    const notes = page.getByRole("region", { name: "Notes" });
    await notes.locator("strong", { hasText: "bold" }).waitFor();
    await expect.poll(() => notes.textContent()).toContain("<img src=x");

    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Name of the run" }).fill("gone");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { level: 1, name: "going" }).waitFor();
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Name of the run" }).fill("went well");
    await server.tell("log");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "went well" }).waitFor();
    await server.tell("end");
    await page.locator(".run-head").getByText("finished").waitFor();
    await expect.poll(() => page.title()).toBe("went well · Stepscope");
  });

  test("every part is reached by click, key and arrow, and says why it has nothing", async () => {
    await open("nothing-logged");
    await expect
      .poll(() => page.getByRole("tab").evaluateAll((all) => all.map((one) => one.firstChild?.textContent)))
      .toEqual(PARTS);
    const said: Record<string, string> = {
      Charts: "This run logged no numbers",
      Findings: "Not watched",
      Media: "no media",
      Distributions: "No histograms",
      Model: "no recorded step",
      Profile: "no profile",
      System: "No system metrics were recorded",
      Ranks: "This run has one rank",
    }; // prettier-ignore
    for (const [at, name] of PARTS.entries()) {
      if (at < 9) await page.keyboard.press(String(at + 1));
      else await page.getByRole("tab", { name }).click();
      await page.getByRole("tab", { name, selected: true }).waitFor();
      await page
        .getByRole("tabpanel", { name })
        .getByText(said[name] ?? "")
        .first()
        .waitFor();
    }
    await page.getByRole("tab", { name: "Step" }).press("ArrowRight");
    await page.getByRole("tab", { name: "Overview", selected: true }).waitFor();
    await page.keyboard.press("[");
    await page.getByRole("tab", { name: "Step", selected: true }).waitFor();
    await page.goBack();
    await page.getByRole("tab", { name: "Overview", selected: true }).waitFor();
    await page.goto(`${server.url}/#/runs`);
    await page.locator("[data-run]").first().waitFor();
    await expect.poll(() => page.evaluate(() => location.hash)).not.toContain("part=");
  });

  test("shows the machine in words, fits a phone, and asks nobody else", async () => {
    await open("small-lm-07", "?part=system");
    await page.getByRole("heading", { name: "Utilisation, %" }).first().waitFor();
    await expect.poll(() => page.locator(".system-facts").textContent()).toContain("2 × NVIDIA H100 80GB (80 GiB)");
    await page.setViewportSize({ width: 390, height: 844 });
    for (const part of ["", "?part=findings", "?part=charts", "?part=system"]) {
      await open("small-lm-08-wide", part);
      await quiet(page);
      await still(page, "main");
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    }
    await expect.poll(() => page.title()).toBe("small-lm-08-wide · Stepscope");
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });
});
