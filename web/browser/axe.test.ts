/** Every page with real data, light and dark: no serious fault of accessibility. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, Server, type Tab } from "./harness";

const PARTS = ["overview", "charts", "findings", "media", "distributions", "model", "profile", "console", "system", "files", "step"];
const PAGES = ["runs", "charts", "compare", "parameters", "media", "distributions", "model", "profile", "reports"];

/** Waits until nothing is asked for and nothing is grey any more. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.locator("main .skeleton").first().waitFor({ state: "detached", timeout: 5000 }).catch(() => undefined);
  await page.waitForTimeout(100);
}

describe.skipIf(noBrowser)("accessibility", () => {
  let server: Server;
  let tab: Tab;
  let runs: string[];
  beforeAll(async () => {
    server = await Server.start("everything");
    tab = await openTab(server);
    await tab.page.locator("[data-run]").first().waitFor();
    runs = await tab.page.locator("[data-run]").evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.run ?? ""));
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
        const found = await axeFaults(page, theme === "dark" ? { only: ["color-contrast"] } : {});
        if (found.length > 0) faults[`${address.replace(/0[0-9A-Z]{25},?/g, "")} ${theme}`] = found;
      }
    }
    return faults;
  }

  test("the pages of the top bar", async () => {
    expect(await walk(PAGES.map((page) => `/${page}?runs=${runs.slice(0, 4).join(",")}`))).toEqual({});
  });

  test("the parts of a run's page", async () => {
    expect(await walk(PARTS.map((part) => `/run/${runs[0]}?part=${part}`))).toEqual({});
  });
});
