/** Names from runs are text, on every page; and the page talks to nobody but its server. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, pressTwo, quiet, Server, still } from "./harness";

const SCRIPT = `<img src=x onerror="document.title='PWNED'">`;

describe.skipIf(noBrowser)("hostile names", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start("hostile");
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  test("are shown as text in the table, the picker, the run's page and the charts, and nothing leaves the origin", async () => {
    const { page, context, errors, strangers } = await openTab(server);
    await page.locator("[data-run]").first().waitFor();
    await expect.poll(async () => (await page.locator(".run-name").allTextContents())[0]).toBe(SCRIPT);
    await expect.poll(() => page.locator(".run-name", { hasText: "\u202e" }).count()).toBe(0);
    await page.getByText("(no name)").waitFor();

    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("textbox", { name: "Find a column" }).fill("img");
    await page.locator(".picker-item", { hasText: SCRIPT }).first().click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Project:/ }).click();
    await page.getByRole("menuitemradio").nth(1).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".run-name").first().hover();
    await page.locator(".peek").waitFor();

    await page.getByRole("checkbox", { name: "Select all matching runs" }).click();
    await page.locator(".run-name").first().click();
    await page.locator(".run-page h1").waitFor();
    await expect.poll(() => page.locator(".run-page h1").textContent()).toBe(SCRIPT);
    await pressTwo(page, "g", "c");
    await page.waitForFunction(() => location.hash.startsWith("#/charts"));
    await page.locator(".panel").first().waitFor();
    await quiet(page);
    await still(page, "main");

    await expect
      .poll(() => page.evaluate(() => document.querySelectorAll('img[src="x"], script:not([src])').length))
      .toBe(0);
    await expect.poll(() => page.title()).not.toContain("PWNED");
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect([errors, strangers]).toEqual([[], []]);
    await context.close();
  });

  test("are text in a comparison, of runs and of groups", async () => {
    const { page, context, errors, strangers } = await openTab(server, "#/compare");
    for (const id of ["changed", "metrics", "config", "code", "environment"])
      await page.locator(`#compare-${id}`).scrollIntoViewIfNeeded();
    await page.locator(".fact-table").first().waitFor();
    await page.locator(".metric-key", { hasText: SCRIPT }).waitFor();
    await page.goto(`${server.url}/#/compare?by=tags,project`);
    await page.locator(".compare-chip", { hasText: "img src=x" }).first().waitFor();
    await expect
      .poll(() => page.evaluate(() => document.querySelectorAll('img[src="x"], script:not([src])').length))
      .toBe(0);
    await expect.poll(() => page.title()).toBe("Compare · Stepscope");
    expect([errors, strangers]).toEqual([[], []]);
    await context.close();
  });

  test("in the address are harmless too", async () => {
    const { page, context, errors } = await openTab(
      server,
      `#/runs?q=${encodeURIComponent(SCRIPT)}&cols=${encodeURIComponent(SCRIPT)},status&project=${encodeURIComponent(SCRIPT)}&group=${encodeURIComponent(SCRIPT)}`,
    );
    await page.locator("#query-error").waitFor();
    await page
      .getByRole("textbox", { name: "Query" })
      .or(page.getByRole("combobox", { name: "Query" }))
      .waitFor();
    await quiet(page);
    await still(page, "main");
    await expect.poll(() => page.title()).toBe("Runs · Stepscope");
    expect(errors.filter((error) => !error.includes("400"))).toEqual([]);
    await context.close();
  });
});
