/** The Sweeps page in a real browser: progress while it goes, the best so far, pause and resume. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, Server, type Tab } from "./harness";

describe.skipIf(noBrowser)("sweeps", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("sweeps");
    tab = await openTab(server, "#/sweeps");
  });
  beforeEach(() => {
    tab.errors.length = tab.strangers.length = 0;
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server.stop();
  });
  const state = () => tab.page.locator(".sweep-state").textContent();
  const best = () => tab.page.locator(".sweep-best strong").textContent();
  const soon = { timeout: 30_000 };

  test("a sweep that nobody is at work on says how to continue it", async () => {
    const { page } = tab;
    await page.locator(".sweep-charts .axis-title").first().waitFor();
    expect(await state()).toBe("Stopped");
    expect(await page.locator(".sweep-note").textContent()).toContain("stepscope sweep FILE");
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    expect(await page.locator(".sweep-legend b").textContent()).toBe("22 of 30 runs done");
    const bars = await page
      .locator(".sweep-progress .sweep-bar i")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-state")));
    expect(bars).toEqual(["finished", "pruned", "diverged"]);
    expect(await page.locator(".sweep-trials tbody tr").count()).toBe(22);
    expect(await page.locator(".sweep-trials tr[data-best]").count()).toBe(1);
    expect(await axeFaults(page)).toEqual([]);
    expect(tab.errors).toEqual([]);
    expect(tab.strangers).toEqual([]);
  });

  test("a new best run appears by itself; pause waits for the current run, resume goes on", async () => {
    const { page } = tab;
    const before = Number(await best());
    await server.tell("try");
    await expect.poll(state, soon).toBe("Running");
    await server.tell("tried 0.1234");
    await expect.poll(best, soon).toBe("0.1234");
    expect(before).toBeGreaterThan(0.1234);
    expect(await page.locator(".sweep-legend b").textContent()).toContain("23 of 30 runs done");
    await server.tell("try");
    await page.getByRole("button", { name: "Pause" }).click();
    await expect.poll(state, soon).toBe("Pausing after the current runs");
    await server.tell("tried 0.5");
    await expect.poll(state, soon).toBe("Paused");
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Resume" }).click();
    await expect.poll(state, soon).toBe("Running");
    expect(tab.errors).toEqual([]);
  });

  test("the best run and its settings lead to its page and to the parameters of the sweep", async () => {
    const { page } = tab;
    await page.getByRole("link", { name: "Explore parameters" }).click();
    await expect.poll(() => page.evaluate(() => decodeURIComponent(location.hash))).toContain("#/parameters?");
    await page.locator(".axis-title", { hasText: "lr" }).waitFor();
    await page.goBack();
    await page.locator(".sweep-trials tbody a").last().click();
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("#/run/");
    await page.getByRole("heading", { name: "run 0" }).first().waitFor();
    expect(tab.errors).toEqual([]);
  });
});
