/** The workspace on Charts: panels dragged, sized, added, taken back, saved and sent as a link, by mouse and by keyboard. */

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, Server, still, type Tab } from "./harness";

const panel = (page: Page, key: string): Locator => page.locator(`.panel[data-key="${key}"]`);
const own = (page: Page): Locator => page.locator(".own-section");
/** The panels of each own section, by what they show. */
const shape = (page: Page): Promise<string[][]> =>
  own(page).evaluateAll((all) =>
    all.map((one) => [...one.querySelectorAll(".panel h3")].map((head) => head.textContent ?? "")),
  );
const boardOf = (page: Page): Promise<string> =>
  page.evaluate(() => new URLSearchParams(location.hash.split("?")[1] ?? "").get("board") ?? "");

/** A change is one step of undo once it has come to rest, and is then kept for the next visit too. */
async function kept(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const board = new URLSearchParams(location.hash.split("?")[1] ?? "").get("board");
    return board && Object.values(localStorage).some((text) => text.includes(JSON.stringify(board)));
  });
}

async function dragHead(page: Page, from: Locator, to: () => Promise<{ x: number; y: number }>): Promise<void> {
  const head = await from.locator(".panel-head h3").boundingBox();
  if (!head) throw new Error("the panel is not on the page");
  await page.mouse.move(head.x + 8, head.y + head.height / 2);
  await page.mouse.down();
  await page.mouse.move(head.x + 30, head.y + 30, { steps: 3 });
  await page.locator(".own-ghost").waitFor();
  const { x, y } = await to();
  await page.mouse.move(x, y, { steps: 4 });
  await page.locator("[data-drop]").waitFor();
  await page.mouse.up();
}

async function middle(place: Locator, part = 0.5): Promise<{ x: number; y: number }> {
  const box = await place.boundingBox();
  if (!box) throw new Error("there is no such place");
  return { x: box.x + box.width * part, y: box.y + box.height / 2 };
}

async function width(place: Locator): Promise<number> {
  return (await place.boundingBox())?.width ?? 0;
}

const space = (panels: unknown[]): string =>
  encodeURIComponent(JSON.stringify({ sections: [{ id: "1", name: "Mine", panels }] }));

describe.skipIf(noBrowser)("the workspace", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("charts");
    tab = await openTab(server, "#/charts");
    await tab.context.addInitScript(
      () => window === top && location.protocol.startsWith("http") && localStorage.clear(),
    );
  });
  beforeEach(async () => {
    await tab.page.goto("about:blank");
    tab.errors.length = tab.strangers.length = 0;
    await tab.page.setViewportSize({ width: 1440, height: 900 });
    await tab.page.goto(`${server.url}/#/charts`);
    await still(tab.page, '.panel[data-key="loss"]');
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server.stop();
  });

  test("a panel dragged by its heading makes a section, another is dropped before it; undo, redo and the link have both", async () => {
    const { page } = tab;
    await dragHead(page, panel(page, "loss"), () => middle(page.locator(".own-drop")));
    await expect.poll(() => shape(page)).toEqual([["loss"]]);
    await expect.poll(() => page.locator('[data-section=""] .panel[data-key="loss"]').count()).toBe(0);
    await kept(page);
    await dragHead(page, panel(page, "lr"), () => middle(page.locator(".own-section .panel-cell"), 0.2));
    await expect.poll(() => shape(page)).toEqual([["lr", "loss"]]);
    await page.keyboard.press("Control+z"); // at once: it need not have come to rest
    await expect.poll(() => shape(page)).toEqual([["loss"]]);
    await page.keyboard.press("Control+z");
    await expect.poll(() => shape(page)).toEqual([]);
    await page.keyboard.press("Control+Shift+z");
    await expect.poll(() => shape(page)).toEqual([["loss"]]);
    await page.keyboard.press("Control+Shift+z");
    await expect.poll(() => shape(page)).toEqual([["lr", "loss"]]);
    await expect.poll(() => page.evaluate(() => decodeURIComponent(location.hash))).toContain('"lr"');
    const link = await page.evaluate(() => location.href);
    await page.goto("about:blank");
    await page.goto(link);
    await expect.poll(() => shape(page)).toEqual([["lr", "loss"]]);
    expect(tab.errors).toEqual([]);
  });

  test("a finger that rests on a heading drags the panel", async () => {
    const { page } = tab;
    const devtools = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", at?: { x: number; y: number }) =>
      devtools.send("Input.dispatchTouchEvent", { type, touchPoints: at ? [at] : [] });
    const head = await middle(panel(page, "loss").locator(".panel-head h3"));
    await touch("touchStart", head);
    await page.locator(".panel-cell[data-moving]").waitFor();
    const to = await middle(page.locator(".own-drop"));
    for (const part of [0.3, 0.6, 1])
      await touch("touchMove", { x: head.x + (to.x - head.x) * part, y: head.y + (to.y - head.y) * part });
    await page.locator("[data-drop]").waitFor();
    await touch("touchEnd");
    await expect.poll(() => shape(page)).toEqual([["loss"]]);
    await devtools.detach();
    expect(tab.errors).toEqual([]);
  });

  test("Escape lets a dragged panel go back; no values are shown under it on its way", async () => {
    const { page } = tab;
    const head = await panel(page, "loss").locator("h3").boundingBox();
    await page.mouse.move((head?.x ?? 0) + 5, (head?.y ?? 0) + 5);
    await page.mouse.down();
    await page.mouse.move((head?.x ?? 0) + 60, (head?.y ?? 0) + 60, { steps: 3 });
    await page.locator(".own-ghost").waitFor();
    const over = await middle(panel(page, "lr"));
    await page.mouse.move(over.x, over.y, { steps: 4 });
    expect(await page.locator(".chart-tip").count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.mouse.up();
    await expect.poll(() => page.locator(".own-ghost").count()).toBe(0);
    expect(await boardOf(page)).toBe("");
  });

  test("the corner sizes a panel, and so do Shift and the arrows", async () => {
    const { page } = tab;
    const before = await width(panel(page, "loss"));
    const corner = page.locator(".panel-cell", { has: panel(page, "loss") }).locator(".cell-corner");
    const from = await middle(corner);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + before, from.y + 100, { steps: 4 });
    await page.mouse.up();
    // More columns may fit beside a wide panel, so its neighbor is the measure.
    await expect
      .poll(async () => (await width(panel(page, "loss"))) / (await width(panel(page, "lr"))))
      .toBeGreaterThan(1.8);
    await expect.poll(() => boardOf(page)).toMatch(/"sizes":\{"loss":\{"w":2,"h":\d+\}\}/);
    await panel(page, "lr").focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowDown");
    await expect.poll(() => boardOf(page)).toMatch(/"lr":\{"w":2,"h":\d+\}/);
  });

  test("by keyboard alone: a panel with a formula is added, moved, enlarged and removed", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/charts?board=${space([{ id: "2", kind: "metric", options: { key: "lr" } }])}`);
    await still(page, ".own-section");
    await page.keyboard.press("a");
    await page.getByRole("button", { name: /^Lines/ }).focus();
    await page.keyboard.press("Enter");
    await page
      .getByRole("textbox", { name: "Metrics or formulas" })
      .or(page.getByRole("combobox", { name: "Metrics or formulas" }))
      .fill("= 1 - (val/accuracy");
    await expect
      .poll(() => page.locator(".formula-problem").textContent())
      .toBe("= 1 - (val/accuracy\n      ^this parenthesis is never closed; expected ) at the end");
    await page
      .getByRole("textbox", { name: "Metrics or formulas" })
      .or(page.getByRole("combobox", { name: "Metrics or formulas" }))
      .fill("= 1 - val/accuracy");
    await page.locator(".formula-problem").waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Add panel", exact: true }).click();
    await expect.poll(() => shape(page)).toEqual([["lr", "1 - val/accuracy"]]);
    const made = page.locator('.own-panel[data-kind="lines"]').first();
    await page.locator(".own-section .plot[data-drawn]").nth(1).waitFor();
    await made.focus();
    await page.keyboard.press("Alt+ArrowLeft");
    await expect.poll(() => shape(page)).toEqual([["1 - val/accuracy", "lr"]]);
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-kind"))).toBe("lines");
    await page.keyboard.press("f");
    await page.locator(".enlarged .own-panel").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".enlarged").waitFor({ state: "detached" });
    await made.focus();
    await page.keyboard.press("Delete");
    await expect.poll(() => shape(page)).toEqual([["lr"]]);
    expect(tab.errors).toEqual([]);
  });

  test("a metric is typed to its end, though a shorter one fits, and a second Enter sends nothing", async () => {
    const { page } = tab;
    await page.keyboard.press("a");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent ?? "")).toMatch(/^Lines/);
    await page.keyboard.press("Enter");
    const field = page.getByLabel("Metrics or formulas");
    await expect.poll(() => field.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.type("loss");
    expect(await field.inputValue()).toBe("loss");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("dialog .name-tag").allTextContents()).toEqual(["loss"]);
    expect(await shape(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  });

  test("Vega-Lite begins with an example that draws", async () => {
    const { page } = tab;
    await page.keyboard.press("a");
    await page.getByRole("button", { name: /^Vega-Lite/ }).click();
    await page.locator("dialog .vega-figure canvas").waitFor();
    await page.getByRole("button", { name: "Add panel", exact: true }).click();
    await expect.poll(() => shape(page)).toEqual([["Vega-Lite"]]);
    expect(tab.errors).toEqual([]);
  });

  test("a wrong formula is said in its own panel, and the others are drawn", async () => {
    const { page } = tab;
    await page.goto(
      `${server.url}/#/charts?board=${space([
        { id: "2", kind: "lines", options: { y: "= 1 - (" } },
        { id: "3", kind: "lines", options: { y: ["loss", "val/loss"], right: "lr" } },
      ])}`,
    );
    await page.getByText("expected a metric, a number or a function, but found the end").waitFor();
    await page.locator(".own-section .plot[data-drawn]").waitFor();
    await expect
      .poll(() => page.locator(".lines-legend li").allTextContents())
      .toEqual(["loss", "val/loss", "lrright axis"]);
  });

  test("what no run has is said in the panel that asks for it", async () => {
    const { page } = tab;
    await page.goto(
      `${server.url}/#/charts?board=${space([
        { id: "2", kind: "profile", options: {} },
        { id: "3", kind: "distribution", options: { key: "nothing" } },
      ])}`,
    );
    await page.getByText("This run was not profiled.").first().waitFor();
    await page.locator('[data-panel="distribution"]').getByText("The shown runs did not log this.").waitFor();
  });

  test("a panel of lines in a report is as high as a chart, and says whose line is whose", async () => {
    const { page } = tab;
    const y = ["loss", "val/loss"];
    await page.goto(`${server.url}/#/charts?board=${space([{ id: "2", kind: "lines", options: { y } }])}`);
    const own = page.locator('.own-panel[data-kind="lines"]');
    await own.locator(".plot[data-drawn]").waitFor();
    expect(await own.locator(".report-legend").isVisible()).toBe(false);
    await own.hover();
    await own.getByRole("button", { name: "Panel menu" }).click();
    await page.getByRole("menuitem", { name: "Add to report…" }).click();
    await page.getByRole("button", { name: "A new report" }).click();
    await page.getByRole("link", { name: "Notes on loss, val/loss" }).click();
    await page.locator(".report-panel .plot[data-drawn]").waitFor();
    expect((await page.locator(".report-panel .lines-figure").boundingBox())?.height).toBeGreaterThanOrEqual(300);
    await page.locator(".report-panel .report-legend .report-run").nth(1).waitFor();
    expect(tab.errors).toEqual([]);
  });

  test("a section is renamed, a panel pinned, an automatic one hidden and shown again", async () => {
    const { page } = tab;
    await page.goto(
      `${server.url}/#/charts?board=${space([{ id: "2", kind: "note", options: { text: "**bold** words", title: "Plan" } }])}`,
    );
    await still(page, ".own-section");
    await page.getByRole("button", { name: "Section Mine" }).click();
    await page.getByRole("menuitem", { name: "Rename…" }).click();
    await page.getByRole("textbox", { name: "Name of the section" }).fill("Quality");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Section Quality" }).waitFor();
    await page.locator(".own-panel").focus();
    await page.keyboard.press("p");
    await page.locator('section[aria-label="Pinned"] .own-panel strong', { hasText: "bold" }).waitFor();
    await panel(page, "lr").focus();
    await page.keyboard.press("Delete");
    await expect.poll(() => panel(page, "lr").count()).toBe(0);
    await page.getByRole("button", { name: "Add a panel or section" }).click();
    await page.getByRole("menuitem", { name: "Show 1 hidden panel" }).click();
    await panel(page, "lr").waitFor();
  });

  test("it is kept as a view in the store, and opens from there", async () => {
    const { page } = tab;
    await page.goto(
      `${server.url}/#/charts?board=${space([{ id: "2", kind: "note", options: { text: "kept", title: "Kept" } }])}`,
    );
    await still(page, ".own-section");
    await page.getByRole("button", { name: /views/i }).first().click();
    await page.getByRole("textbox", { name: /name/i }).fill("team board");
    await page.keyboard.press("Enter");
    await expect
      .poll(() =>
        page.evaluate(
          async () =>
            (
              await (
                await fetch("/api/views", {
                  method: "POST",
                  headers: { "X-Stepscope": "1", "Content-Type": "application/json" },
                  body: "{}",
                })
              ).json()
            ).views.length,
        ),
      )
      .toBe(1);
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/charts`);
    await still(page, '.panel[data-key="loss"]');
    await page.getByRole("button", { name: /views/i }).first().click();
    await page.getByText("team board").click();
    await expect.poll(() => shape(page)).toEqual([["Kept"]]);
  });

  test.each([390, 1440, 2560])("at %i px the panels fill the width, and nothing scrolls sideways", async (width) => {
    const { page } = tab;
    await page.setViewportSize({ width, height: 1000 });
    await still(page, '.panel[data-key="loss"]');
    const gaps = () =>
      page.locator(".panel-grid").evaluateAll((all) =>
        all.map((grid) => {
          const right = Math.max(...[...grid.children].map((cell) => cell.getBoundingClientRect().right));
          return Math.round(grid.getBoundingClientRect().right - right);
        }),
      );
    await expect.poll(async () => Math.max(...(await gaps()))).toBeLessThanOrEqual(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });

  test("Vega-Lite is fetched from the server when such a panel is shown, draws, and fetches nothing itself", async () => {
    const { page } = tab;
    const scripts: string[] = [];
    page.on("request", (request) => /vega/.test(request.url()) && scripts.push(request.url()));
    await page.reload();
    await still(page, '.panel[data-key="loss"]');
    expect(scripts).toEqual([]);
    const bar = JSON.stringify({
      mark: "bar",
      encoding: { x: { field: "name" }, y: { field: "loss_min", type: "quantitative" } },
    });
    const beacon = JSON.stringify({
      data: { url: "https://example.org/x.csv" },
      mark: "point",
      encoding: { x: { field: "a" } },
    });
    await page.goto(
      `${server.url}/#/charts?board=${space([
        { id: "2", kind: "vega", options: { spec: bar } },
        { id: "3", kind: "vega", options: { spec: beacon } },
      ])}`,
    );
    await page.locator(".vega-figure canvas").first().waitFor();
    await page.getByText("A panel fetches nothing").waitFor();
    expect(scripts.length).toBeGreaterThan(0);
    expect(tab.strangers).toEqual([]);
    expect(tab.errors).toEqual([]);
  });
});
