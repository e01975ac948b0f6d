/** What a screen reader is told: every control has a name, every picture a text, every page its landmarks. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, Server, type Tab } from "./harness";

/** Elements that a person could not make sense of by ear, each with why. */
const faults = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const say = (element: Element) => element.outerHTML.slice(0, 120);
    const textOf = (ids: string | null) =>
      (ids ?? "")
        .split(/\s+/)
        .map((id) => document.getElementById(id)?.textContent ?? "")
        .join("");
    const name = (element: Element) =>
      [
        element.getAttribute("aria-label"),
        textOf(element.getAttribute("aria-labelledby")),
        element.getAttribute("title"),
        element.getAttribute("alt"),
        (element as HTMLInputElement).labels?.[0]?.textContent,
        element.textContent,
      ].some((words) => words?.trim());
    const found: string[] = [];
    for (const element of document.querySelectorAll(
      "button, a[href], input, select, textarea, iframe, [role=img], [role=dialog], [role=grid], [role=button]",
    ))
      if (!name(element) && !element.closest("[aria-hidden=true]")) found.push(`no name: ${say(element)}`);
    for (const image of document.querySelectorAll("img"))
      if (!image.hasAttribute("alt")) found.push(`no alt: ${say(image)}`);
    for (const element of document.querySelectorAll("[aria-controls], [aria-activedescendant]"))
      for (const id of [element.getAttribute("aria-controls"), element.getAttribute("aria-activedescendant")])
        if (id && !document.getElementById(id)) found.push(`points at nothing (${id}): ${say(element)}`);
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    found.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `two elements are #${id}`));
    if (document.querySelectorAll("main").length !== 1) found.push("not one main");
    if (!document.documentElement.lang || !document.title) found.push("no language or title");
    return found;
  });

describe.skipIf(noBrowser)("by ear", () => {
  let server: Server;
  let tab: Tab;
  beforeAll(async () => {
    server = await Server.start("usual");
    tab = await openTab(server);
    await tab.page.locator("[data-run]").first().waitFor();
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  test("the table, a run's page and the charts can be made sense of", async () => {
    const { page } = tab;
    await page.keyboard.press("j");
    await expect
      .poll(() => page.getByRole("grid", { name: "Runs" }).getAttribute("aria-activedescendant"))
      .toBeTruthy();
    await expect.poll(() => faults(page)).toEqual([]);
    await expect.poll(() => page.getByRole("grid", { name: "Runs" }).getAttribute("aria-rowcount")).toBe("25");
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("textbox", { name: "Find a column" }).waitFor();
    await expect.poll(() => faults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator(".run-name").first().click();
    await page.getByRole("region", { name: "Metrics", exact: true }).waitFor();
    await expect.poll(() => faults(page)).toEqual([]);
    await page.getByRole("tab", { name: "Charts" }).click();
    await page.getByRole("img", { name: /train\/loss over Step/ }).waitFor();
    await expect.poll(() => faults(page)).toEqual([]);
  });

  test("a run has one colour, wherever it is shown", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/runs`);
    await page.locator("[data-run]").first().waitFor();
    const colours = () =>
      page.locator(".row .swatch").evaluateAll((all) => all.slice(0, 10).map((one) => getComputedStyle(one).color));
    await expect.poll(async () => new Set(await colours()).size).toBe(8);
    const before = await colours();
    await page.goto(`${server.url}/#/charts`);
    await page.locator(".run-item").nth(9).waitFor();
    await expect
      .poll(() => page.locator(".run-eye line").evaluateAll((all) => all.map((line) => getComputedStyle(line).stroke)))
      .toEqual(before);
    const signs = await page
      .locator(".run-eye line")
      .evaluateAll((all) =>
        all.map((line) => `${getComputedStyle(line).stroke} ${getComputedStyle(line).strokeDasharray}`),
      );
    expect(new Set(signs).size, "runs that share a color differ in their dashes").toBe(10);
    await page.goto(`${server.url}/#/runs`);
    await page.locator(".run-name").nth(2).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expect.poll(() => page.locator(".swatch-big").evaluate((dot) => getComputedStyle(dot).color)).toBe(before[2]);
  });
});
