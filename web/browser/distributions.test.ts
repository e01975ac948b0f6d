/** The Distributions page in a real browser: layers side by side, one step large, runs beside each other, many layers. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, quiet, Server, still, type Tab } from "./harness";

const hashOf = (page: Page): Promise<string> => page.evaluate(() => decodeURIComponent(location.hash));
const layers = (page: Page): Promise<(string | null)[]> =>
  page.locator(".dist-row").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-layer")));
const ready = (page: Page) => page.locator(".dist-panel[data-ready] canvas").first().waitFor();

describe.skipIf(noBrowser)("distributions", () => {
  let server: Server;
  let many: Server;
  let tab: Tab;
  const asked: string[] = [];

  beforeAll(async () => {
    [server, many] = await Promise.all([Server.start("distributions"), Server.start("distributions", 200)]);
    tab = await openTab(server, "#/distributions");
    tab.page.on(
      "request",
      (request) =>
        request.url().endsWith("/api/histograms") && asked.push((request.postDataJSON() as { key: string }).key),
    );
  });
  beforeEach(async () => {
    await tab.page.goto("about:blank");
    asked.length = tab.errors.length = tab.strangers.length = 0;
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await Promise.all([server.stop(), many.stop()]);
  });

  test("one row per layer; the dead one is found, and one of its steps looked at", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/distributions`);
    await ready(page);
    await expect
      .poll(() => page.locator(".dist-head [role=columnheader]").allTextContents())
      .toEqual(["Layer", "Weights", "Gradients", "Activations"]);
    // It opens on what is wrong, and says why; the rest follows as in the model.
    await expect
      .poll(async () => (await layers(page)).slice(0, 3))
      .toEqual(["stage2.1.conv1.weight", "stem.conv.weight", "stage1.0.conv1.weight"]);
    await expect
      .poll(() => page.locator(".dist-wrong").allTextContents())
      .toEqual(["activations dead or saturated: 100% in two bins"]);
    await page.getByLabel("Order of layers").selectOption("stuck");
    await expect.poll(async () => (await layers(page))[0]).toBe("stage2.1.conv1.weight");
    await expect.poll(() => page.locator(".dist-name small").first().textContent()).toBe("100% in two bins");
    const dead = page.locator('.dist-panel[data-key="activations/stage2.1.conv1"]');
    await dead.locator("canvas").waitFor();
    await still(page, ".dist-row");
    let moves = 0;
    const pointed = async () => {
      const box = await dead.locator(".canvas").boundingBox();
      if (!box) return "no picture";
      await page.mouse.move(box.x + 60 + (moves++ % 2), box.y + box.height * 0.6); // a hand is never quite still
      return dead.locator(".dist-caption").textContent();
    };
    await expect.poll(pointed).toMatch(/^step [\d,]+: (about )?[\d,.]+ from/);
    await page.mouse.down();
    await page.mouse.up();
    const large = page.getByRole("complementary", { name: "One step of activations/stage2.1.conv1" });
    const step = () => large.locator(".dist-walk strong").textContent();
    await expect.poll(step).toMatch(/^step [\d,]+$/);
    const before = await step();
    await page.keyboard.press("ArrowRight");
    await expect.poll(step).not.toBe(before);
    await expect.poll(() => large.locator(".dist-stats").textContent()).toMatch(/values4,000.*in the bin of 0\d+/);
    await expect.poll(() => hashOf(page)).toMatch(/dstep=\d+.*dopen=[0-9A-Z]{26},activations\/stage2/);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await expect.poll(() => large.count()).toBe(0);
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });

  test("runs stand side by side, as a heat map or percentiles, in one range of values", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/distributions?dmode=heat`);
    await ready(page);
    await page.getByRole("radio", { name: "All runs" }).click();
    await expect
      .poll(async () => (await page.locator(".dist-head [role=columnheader]").allTextContents()).sort())
      .toEqual(["Layer", "lr 1e-1, dies", "lr 1e-3"]);
    await page.getByLabel("Quantity").selectOption("gradients");
    await expect.poll(() => page.locator('.dist-panel[data-key="gradients/stem.conv.weight"]').count()).toBe(2);
    await page.getByRole("radio", { name: "Row" }).click();
    await page.getByRole("radio", { name: "Percentiles" }).click();
    await expect.poll(() => hashOf(page)).toMatch(/dmode=bands/);
    await page.getByLabel("Find layers").fill("head norm");
    await expect.poll(() => layers(page)).toEqual(["head.norm.weight"]);
    await page.getByLabel("Find layers").fill("no such layer");
    await page.getByText("No layer has").waitFor();
  });

  test("of two hundred layers only those on the screen are fetched and drawn", async () => {
    const { page } = tab;
    await page.goto(`${many.address}#/distributions`);
    await ready(page);
    await expect.poll(async () => (await layers(page)).length).toBe(200);
    await quiet(page);
    expect(asked.length).toBeLessThan(40);
    await page.locator(".dist-scroll").evaluate((scroll) => (scroll.scrollTop = scroll.scrollHeight));
    await page.locator('.dist-panel[data-key="weights/blocks.49.v.weight"][data-ready] canvas').waitFor();
    expect(asked.length).toBeLessThan(80);
    await expect.poll(() => page.locator(".dist-panel canvas").count()).toBeLessThan(40);
  });

  test("a run without histograms says how to log some", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/runs`);
    await page.getByRole("link", { name: "no histograms" }).first().waitFor();
    const href = await page.getByRole("link", { name: "no histograms" }).first().getAttribute("href");
    const id = /run\/(\w+)/.exec(href ?? "")?.[1] ?? "";
    await page.goto(`${server.url}/#/distributions?runs=${id}`);
    await page.getByRole("heading", { name: "No histograms here" }).waitFor();
    await page.getByText("stepscope.watch_layers").waitFor();
  });
});
