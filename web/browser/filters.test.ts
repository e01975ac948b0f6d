/** Filtering by click, the menu of a heading, saved queries, and runs that go on, in a real browser over a real store. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, Server, type Tab } from "./harness";

const query = (page: Page) => page.getByRole("combobox", { name: "Query" });
const matched = (page: Page) => page.locator(".matched").textContent();

describe.skipIf(noBrowser)("filters", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("usual");
    tab = await openTab(server, "#/runs");
    await tab.context.addInitScript(
      () => window === top && location.protocol.startsWith("http") && localStorage.clear(),
    );
  });
  beforeEach(async () => {
    await tab.page.goto("about:blank");
    tab.errors.length = 0;
    await tab.page.goto(`${server.url}/#/runs`);
    await tab.page.locator("[data-run]").first().waitFor();
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server.stop();
  });

  test("a click on a status, a tag and a config value writes the query, and a second click takes it back", async () => {
    const { page } = tab;
    await page.locator(".cell-filter", { hasText: "failed" }).first().click();
    await expect.poll(() => query(page).inputValue()).toBe("status = failed");
    await expect.poll(() => matched(page)).toBe("1 of 24 runs");
    await page.locator(".cell-filter", { hasText: "failed" }).first().click();
    await expect.poll(() => query(page).inputValue()).toBe("");
    await page.locator("button.tag-text", { hasText: "sweep" }).first().click();
    await expect.poll(() => query(page).inputValue()).toBe("tags = sweep");
    await page.locator('[data-column="config.optimizer"] .cell-filter', { hasText: "sgd" }).first().click();
    await expect.poll(() => query(page).inputValue()).toBe("tags = sweep and config.optimizer = sgd");
    expect(tab.errors).toEqual([]);
  });

  test("runs are colored by a config value, the same on every page, with a legend", async () => {
    const { page } = tab;
    const legend = page.getByRole("region", { name: "Colors of runs" });
    /** Of each run in the list of Charts, its color and whether its line is dashed. */
    const lines = () =>
      page
        .locator(".run-eye line")
        .evaluateAll((all) => all.map((one) => [one.getAttribute("stroke"), one.getAttribute("stroke-dasharray")]));
    await page.locator('.row-head [data-column="config.optimizer"]').click({ button: "right" });
    await page.getByRole("menuitem", { name: "Color runs by this" }).click();
    await expect.poll(() => legend.locator(".color-name").allTextContents()).toEqual(["adam", "sgd"]);
    const hues = await legend
      .locator(".color-name i")
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).style.background));
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("color=config.optimizer");
    await page.reload();
    await page.getByRole("link", { name: "Charts" }).click();
    await expect.poll(async () => new Set((await lines()).map(([color]) => color)).size).toBe(2);
    const shown = await page.evaluate(
      (colors) =>
        colors.map((color) => {
          const probe = document.createElement("i");
          probe.style.background = color ?? "";
          return probe.style.background;
        }),
      (await lines()).map(([color]) => color),
    );
    expect(new Set(shown)).toEqual(new Set(hues));
    expect((await lines()).filter(([, dash]) => dash).length).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Chart settings" }).click();
    await page.getByRole("combobox", { name: "Color runs by" }).selectOption("config.lr");
    await expect.poll(() => legend.locator(".color-ramp").count()).toBe(1);
    await expect.poll(async () => new Set((await lines()).map(([color]) => color)).size).toBeGreaterThan(2);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Own colors" }).click();
    await expect.poll(() => legend.count()).toBe(0);
    await expect.poll(() => page.evaluate(() => location.hash)).not.toContain("color=");
    expect(tab.errors).toEqual([]);
  });

  test("the menu of a heading filters by value, groups, pins and hides, and tells the statistics", async () => {
    const { page } = tab;
    const head = page.locator('.row-head [data-column="config.lr"]');
    await head.click({ button: "right" });
    const menu = page.getByRole("dialog", { name: "Column lr" });
    await menu.getByText("median").waitFor();
    await menu.locator(".head-values input, .head-values [role=checkbox]").first().click();
    await expect.poll(() => query(page).inputValue()).toMatch(/^config\.lr = [\d.]+$/);
    await menu.getByRole("menuitem", { name: "Pin to the left" }).click();
    await expect.poll(() => page.locator(".row-head [data-pinned]").getAttribute("data-column")).toBe("config.lr");
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("pincols=config.lr");
    await page.getByRole("button", { name: "Menu of lr" }).focus();
    await page.keyboard.press("Enter");
    await menu.getByRole("menuitem", { name: "Hide" }).click();
    await expect.poll(() => head.count()).toBe(0);
  });

  test("`tag = x` is understood; a wrong query keeps the rows, and points at the character also when it came as a link", async () => {
    const { page } = tab;
    await query(page).fill("tag = sweep");
    await expect.poll(() => matched(page)).toMatch(/^\d+ of 24 runs$/);
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/runs?q=statsu+%3D+failed`);
    await page.locator("[data-run]").first().waitFor();
    await page.getByText("there is no field 'statsu'").waitFor();
    await expect.poll(() => page.locator(".query-problem pre").textContent()).toBe("statsu = failed\n^");
    await expect.poll(() => matched(page)).toBe("24 runs");
    await page.locator(".grid").press("End");
    await expect.poll(() => page.locator(".row .skeleton").count()).toBe(0);
  });

  test("a query is saved in the store and found again", async () => {
    const { page } = tab;
    await query(page).fill("status = failed");
    await query(page).press("Enter");
    await expect.poll(() => matched(page)).toBe("1 of 24 runs");
    await page.getByRole("button", { name: "Saved queries" }).click();
    await page.getByRole("menuitem", { name: "Save this query" }).click();
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/runs`);
    await page.locator("[data-run]").first().waitFor();
    await page.getByRole("button", { name: "Saved queries" }).click();
    await page.getByRole("menuitem", { name: "status = failed" }).click();
    await expect.poll(() => matched(page)).toBe("1 of 24 runs");
  });

  test("a long name is cut in its middle, and is read out whole", async () => {
    const { page } = tab;
    await server.tell("start resnet-50-adamw-lr3e-4-weight-decay-0.01-seed-17");
    const link = page.getByRole("link", { name: "resnet-50-adamw-lr3e-4-weight-decay-0.01-seed-17" });
    await link.waitFor();
    const [head, tail] = await Promise.all(
      [link.locator(".middle-head"), link.locator(".middle-tail")].map((one) =>
        one.evaluate((box) => ({ cut: box.scrollWidth > box.clientWidth + 1, text: box.textContent })),
      ),
    );
    expect(head?.cut).toBe(true);
    expect(tail).toEqual({ cut: false, text: "01-seed-17".padStart(11, ".") });
  });

  test("on a phone a name of usual length keeps its end, and never runs out of its cell", async () => {
    const { page } = tab;
    await page.setViewportSize({ width: 390, height: 844 });
    await server.tell("start digits-vae-settings-8");
    const link = page.getByRole("link", { name: "digits-vae-settings-8" });
    await link.waitFor();
    const [own, tail] = await Promise.all([link.boundingBox(), link.locator(".middle-tail").boundingBox()]);
    const cell = await link.locator("xpath=..").boundingBox();
    expect(tail!.x + tail!.width).toBeLessThanOrEqual(own!.x + own!.width + 1);
    expect(own!.x + own!.width).toBeLessThanOrEqual(cell!.x + cell!.width);
    expect(await link.locator(".middle-tail").textContent()).toBe("settings-8");
    await server.tell("start digits-vae-settings-8"); // both get the end of their id, which leaves a name hardly any room
    await page.locator(".run-twin").nth(1).waitFor();
    const overlaps = await page.locator(".run-twin").evaluateAll((marks) =>
      marks.map((mark) => {
        const name = mark.previousElementSibling!;
        const ends = [...name.querySelectorAll("*")].map((part) => part.getBoundingClientRect().right);
        return Math.max(...ends) > Math.min(name.getBoundingClientRect().right, mark.getBoundingClientRect().left) + 1;
      }),
    );
    expect(overlaps).toEqual([false, false]);
  });

  test("a run that goes on has its state beside it and on its page; a click asks to be told", async () => {
    const { page } = tab;
    await server.tell("start alive-run");
    await server.tell("log");
    const row = page.locator(".row", { has: page.getByRole("link", { name: "alive-run" }) });
    await expect.poll(() => row.locator(".alive").textContent()).toMatch(/^step \d+|starting/);
    await server.tell("nan");
    await expect.poll(() => row.locator(".alive").textContent()).toBe("diverged");
    await page.locator(".run-name", { hasText: "alive-run" }).click();
    await page.getByText("Diverged: train/loss is NaN").waitFor();
    await tab.context.grantPermissions(["notifications"], { origin: server.url });
    await page.getByRole("button", { name: "Notify me on the desktop when it ends or goes wrong" }).click();
    await page.getByRole("button", { name: "Do not notify me about this run" }).waitFor();
    await page.evaluate(() => {
      const told: string[] = [];
      Object.assign(window, {
        told,
        Notification: class {
          static permission = "granted";
          constructor(title: string) {
            told.push(title);
          }
        },
      });
    });
    await server.tell("end");
    await expect
      .poll(() => page.evaluate(() => (window as unknown as { told: string[] }).told))
      .toContain("alive-run has finished");
    await expect.poll(() => page.locator(".alive-line").count()).toBe(0);
    expect(tab.errors).toEqual([]);
  });
});
