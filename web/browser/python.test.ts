/** The Python tab in a real browser: a call tree of a hundred thousand nodes, and one out of a real trace. */

import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  closeBrowser,
  noBrowser,
  openTab,
  picture as pictureOf,
  Server,
  steady,
  still,
  typeInto,
  type Tab,
} from "./harness";

const picture = (page: Page): Promise<number> => pictureOf(page.locator(".icicle-stage canvas"));

/** Until the stage stands still and its picture stays as it is. */
async function settled(page: Page): Promise<number> {
  await still(page, ".profile-body", ".icicle-stage");
  return steady(page.locator(".icicle-stage canvas"));
}

describe.skipIf(noBrowser)("Python calls", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("timeline");
  });
  afterEach(async () => {
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
    await tab.context.close();
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  async function open(run: string): Promise<Page> {
    tab = await openTab(server, "#/profile?tab=python");
    const { page } = tab;
    await page.getByRole("combobox", { name: "Run", exact: true }).selectOption({ label: run });
    await page.locator(".icicle-table .sheet-row").first().waitFor();
    await settled(page);
    return page;
  }

  const crumbs = (page: Page) => page.locator(".icicle-crumbs button").allTextContents();

  async function at(page: Page, x: number, depth: number): Promise<[number, number]> {
    const box = await page.locator(".icicle-stage").boundingBox();
    if (!box) throw new Error("no stage");
    return [box.x + box.width * x, box.y + depth * 20 + 10];
  }

  test("a click lets a function fill the width; crumbs and keys lead back", async () => {
    const page = await open("calls");
    await page.mouse.move(...(await at(page, 0.05, 1)));
    await page.locator(".timeline-tip").waitFor();
    await expect
      .poll(() => page.locator(".timeline-tip").textContent())
      .toMatch(/train \(train\.py:20\).* in all \(\d+%\)/);
    const all = await picture(page);
    await page.mouse.click(...(await at(page, 0.05, 1)));
    await expect.poll(() => crumbs(page)).toEqual(["All", "main (train.py:1)", "train (train.py:20)"]);
    await expect.poll(() => picture(page)).not.toBe(all);
    await settled(page);
    await page.locator(".icicle-stage").press("ArrowDown");
    await page.locator(".icicle-stage").press("Enter");
    await expect.poll(async () => (await crumbs(page)).length).toBe(4);
    await page.keyboard.press("Backspace");
    await expect.poll(async () => (await crumbs(page)).length).toBe(3);
    await page.locator(".icicle-crumbs button").first().click();
    await expect.poll(() => crumbs(page)).toEqual(["All"]);
  });

  test("turns round to the callers, stands as a flame, and says who calls one function", async () => {
    const page = await open("calls");
    const first = await picture(page);
    await page.keyboard.press("i");
    await expect.poll(() => picture(page)).not.toBe(first);
    await expect.poll(() => page.getByRole("combobox", { name: "Direction" }).inputValue()).toBe("callers");
    const inverted = await settled(page);
    await page.keyboard.press("f");
    await expect.poll(() => picture(page)).not.toBe(inverted);
    await page.keyboard.press("f");
    await expect.poll(() => picture(page)).toBe(inverted);
    await page.keyboard.press("i");
    await expect.poll(() => page.getByRole("combobox", { name: "Direction" }).inputValue()).not.toBe("callers");
    await settled(page);
    await page.mouse.click(...(await at(page, 0.05, 1)));
    await page.getByRole("button", { name: "Who calls it" }).click();
    await expect.poll(() => crumbs(page)).toEqual(["Callers of train (train.py:20)"]);
  });

  test("a search and the table light up what they mean", async () => {
    const page = await open("calls");
    const plain = await picture(page);
    await typeInto(page, "/", page.getByLabel("Find functions").first(), "module7.py");
    await page.getByText(/^25 functions, .* of the time$/).waitFor();
    await expect.poll(() => picture(page)).not.toBe(plain);
    await page.keyboard.press("Escape");
    await expect.poll(() => picture(page)).toBe(plain);
    await page.locator(".icicle-table .sheet-row").first().click();
    await expect.poll(() => picture(page)).not.toBe(plain);
    await expect.poll(() => page.title()).not.toContain("PWNED");
  });

  test("the tree of a trace begins at the training, with every column of its functions in view, and has its tables beside", async () => {
    const page = await open("gpt");
    await expect.poll(() => crumbs(page)).toEqual(["All", "training thread"]);
    for (const width of [1440, 1280, 1024]) {
      await page.setViewportSize({ width, height: 900 });
      await expect
        .poll(() => page.locator(".icicle-table .sheet-grid").evaluate((grid) => grid.scrollWidth - grid.clientWidth))
        .toBe(0);
    }
    await page.getByRole("radio", { name: "Tables" }).click();
    await page.getByRole("radio", { name: "Python functions" }).waitFor();
    await page.locator(".sheet-row").first().waitFor();
  });
});
