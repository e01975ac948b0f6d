/** Every page with real data, light and dark: no serious fault of accessibility. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, quiet, Server, still, type Tab } from "./harness";

/** Runs that have something to show there. */
const PARTS: Record<string, string> = {
  overview: "small-lm-08-wide",
  findings: "small-lm-08-wide",
  system: "small-lm-08-wide",
  charts: "cosine + EMA",
  media: "wide decoder",
  distributions: "lr 1e-3",
  profile: "gpt on a GPU",
  model: "vae-kl-explodes",
  console: "vae-kl-explodes",
  files: "vae-kl-explodes",
  step: "vae-kl-explodes",
};
const PAGES: Record<string, string[]> = {
  runs: ["small-lm-08-wide"],
  charts: ["cosine + EMA", "baseline-s0"],
  compare: ["baseline-s0", "baseline-s1", "cutmix-s0", "cutmix-s1"],
  parameters: [],
  media: ["wide decoder", "no skip"],
  distributions: ["lr 1e-3", "lr 1e-1, dies"],
  model: ["vae-kl-explodes"],
  profile: ["gpt on a GPU"],
  reports: [],
};

/** Waits until nothing is asked for and nothing on the screen is grey any more. */
async function settled(page: Page): Promise<void> {
  await quiet(page);
  await still(page, "main");
}

describe.skipIf(noBrowser)("accessibility", () => {
  let server: Server;
  let tab: Tab;
  const ids = new Map<string, string>();
  beforeAll(async () => {
    server = await Server.start("everything");
    tab = await openTab(server);
    const rows = await tab.page.evaluate(async () => {
      const headers = { "X-Stepscope": "1", "Content-Type": "application/json" };
      const answer = await fetch("/api/runs", { method: "POST", headers, body: "{}" });
      return ((await answer.json()) as { rows: { id: string; name: string }[] }).rows;
    });
    for (const row of rows) ids.set(row.name, row.id);
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  async function walk(addresses: readonly string[]): Promise<Record<string, string[]>> {
    const { page } = tab;
    const faults: Record<string, string[]> = {};
    for (const address of addresses) {
      await page.goto(`${server.url}/#${address}`);
      await settled(page);
      for (const theme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: theme as "light" | "dark", reducedMotion: "reduce" });
        // The rules but those of colour say the same in both.
        const found = await axeFaults(page, theme === "dark" ? { only: ["color-contrast"] } : { headings: true });
        if (found.length > 0) faults[`${address.replace(/0[0-9A-Z]{25},?/g, "")} ${theme}`] = found;
      }
    }
    return faults;
  }

  test("the pages of the top bar, and a report", async () => {
    const addresses = Object.entries(PAGES).map(
      ([page, names]) => `/${page}?runs=${names.map((name) => ids.get(name)).join(",")}`,
    );
    expect(await walk(addresses)).toEqual({});
    await tab.page.goto(`${server.url}/#/reports`);
    await tab.page.getByRole("link", { name: "What made the denoiser better" }).first().click();
    await tab.page.waitForURL(/#\/report\//);
    expect(await walk([new URL(tab.page.url()).hash.slice(1)])).toEqual({});
  }, 480_000); // many pages, each looked at twice

  test("the parts of a run's page", async () => {
    expect(await walk(Object.entries(PARTS).map(([part, name]) => `/run/${ids.get(name)}?part=${part}`))).toEqual({});
    expect(tab.errors).toEqual([]);
  }, 480_000); // many pages, each looked at twice

  test("dialogs: no fault, never the destructive button first, and a choice that Esc clears can be taken back", async () => {
    const { page } = tab;
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await page.goto(`${server.url}/#/runs?runs=${ids.get("baseline-s0")},${ids.get("baseline-s1")}`);
    await settled(page);
    const found: Record<string, string[]> = {};
    for (const key of ["Delete", "?", "Control+k"]) {
      await page.keyboard.press(key);
      await page.getByRole("dialog").first().waitFor();
      const faults = await axeFaults(page, { headings: true });
      if (faults.length > 0) found[key] = faults;
      expect(await page.evaluate(() => document.activeElement?.classList.contains("button-bad")), key).toBe(false);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").first().waitFor({ state: "detached" });
    }
    expect(found).toEqual({});
    await page.locator("main").focus();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).not.toContain("runs=0");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => page.url()).toContain(ids.get("baseline-s1"));
  });
});
