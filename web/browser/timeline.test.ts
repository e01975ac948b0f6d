/** The Timeline tab in a real browser: a real trace, two ranks, thousands of lanes, names that would be markup. */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  closeBrowser,
  noBrowser,
  openTab,
  picture as pictureOf,
  quiet,
  Server,
  steady,
  still,
  typeInto,
  type Tab,
} from "./harness";

/** What the blocks' canvas shows, as a number that changes when a pixel does. */
const picture = (page: Page): Promise<number> => pictureOf(page.locator(".timeline-stage canvas"));

/** Until the stage stands still and its picture stays as it is: tiles, names and flights have arrived. */
async function settled(page: Page): Promise<number> {
  await still(page, ".profile-body", ".timeline-stage, .timeline-lane");
  await quiet(page);
  return steady(page.locator(".timeline-stage canvas"));
}

const colours = (page: Page): Promise<number> =>
  page
    .locator(".timeline-stage canvas")
    .first()
    .evaluate((canvas: HTMLCanvasElement) => {
      const pixels = new Uint32Array(
        canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data.buffer ?? new ArrayBuffer(0),
      );
      return new Set(pixels).size;
    });

describe.skipIf(noBrowser)("the timeline", () => {
  let server: Server;
  let tab: Tab;
  let tiles: { level: number; first: number; lanes: number[] }[] = [];

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

  async function open(run: string, options: { theme?: "light" | "dark" } = {}): Promise<Page> {
    tab = await openTab(server, "#/profile?tab=timeline", options);
    const { page } = tab;
    tiles = [];
    page.on("request", (request) => request.url().endsWith("/tiles") && tiles.push(request.postDataJSON()));
    await page.getByRole("combobox", { name: "Run", exact: true }).selectOption({ label: run });
    await page.locator(".timeline[data-ready] .timeline-lane").first().waitFor();
    await expect.poll(() => colours(page)).toBeGreaterThan(3);
    await settled(page);
    return page;
  }

  async function at(page: Page, x: number, y: number): Promise<[number, number]> {
    const box = await page.locator(".timeline-stage").boundingBox();
    if (!box) throw new Error("no stage");
    return [box.x + box.width * x, box.y + y];
  }

  const panel = (page: Page) => page.getByRole("region", { name: "The selected event" });

  test("shows threads and streams, says what the pointer is on, and all of an event on a click", async () => {
    const page = await open("gpt");
    await expect.poll(() => page.locator(".timeline-head").first().textContent()).toContain("python3 444");
    await page.mouse.move(...(await at(page, 0.3, 38)));
    await page.locator(".timeline-tip", { hasText: "ProfilerStep#4" }).waitFor();
    await expect.poll(() => page.locator(".timeline-tip").textContent()).toMatch(/16\.860\s928 ms · annotation/);
    await page.mouse.down();
    await page.mouse.up();
    await panel(page).getByRole("heading", { name: "ProfilerStep#4" }).waitFor();
    await expect.poll(() => panel(page).locator("dl").first().textContent()).toContain("Step4");
    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "detached" });
  });

  test("zooms with the wheel and keys to finer tiles, and shows all of it again", async () => {
    const page = await open("gpt");
    // It opens on the recorded steps; `r` shows the whole program.
    const opened = await settled(page);
    await page.keyboard.press("r");
    await expect.poll(() => picture(page)).not.toBe(opened);
    const before = await settled(page);
    const coarse = Math.min(...tiles.map((tile) => tile.level));
    await page.mouse.move(...(await at(page, 0.1, 200)));
    for (let turn = 0; turn < 12; turn++) await page.mouse.wheel(0, -200);
    await expect.poll(() => Math.min(...tiles.map((tile) => tile.level))).toBeLessThan(coarse - 3);
    await expect.poll(() => picture(page)).not.toBe(before);
    const close = await settled(page);
    await expect.poll(() => page.url()).toMatch(/time=\d+\+\d+|time=\d+%2B\d+/);
    await page.reload();
    await page.locator(".timeline[data-ready] .timeline-lane").first().waitFor();
    await expect.poll(() => picture(page)).toBe(close);
    await page.locator(".timeline-stage").press("d");
    await expect.poll(() => picture(page)).not.toBe(close);
    await page.mouse.move(5, 5);
    await page.keyboard.press("r");
    await expect.poll(() => picture(page)).toBe(before);
  });

  test("finds events, goes from hit to hit, and follows the arrow of a launch", async () => {
    const page = await open("gpt");
    await typeInto(page, "/", page.getByLabel("Find events by name"), "/^cudaLaunchKernel/");
    await page.getByText(/^[\d,]+ events, \d+ names?$/).waitFor();
    const faded = await settled(page);
    await page.keyboard.press("Enter");
    await page.getByText(/^1 of \d+$/).waitFor();
    await panel(page).getByRole("heading", { name: "cudaLaunchKernel" }).waitFor();
    await expect.poll(() => picture(page)).not.toBe(faded);
    await page.keyboard.press("Enter");
    await page.getByText(/^2 of \d+$/).waitFor();
    await page.keyboard.press("Shift+Enter");
    await page.getByText(/^1 of \d+$/).waitFor();
    await panel(page).getByText("Launches on the device").waitFor();
    await panel(page)
      .locator(".timeline-part", { hasText: "Launches on the device" })
      .getByRole("button")
      .first()
      .click();
    await panel(page).getByText("Launched by").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByLabel("Find events by name").fill("/(/");
    await page.locator(".timeline-find-error").waitFor();
  });

  test("a drag over the ruler selects; the statistics sort and export", async () => {
    const page = await open("gpt");
    await settled(page);
    const box = await page.locator(".timeline-ruler").boundingBox();
    if (!box) throw new Error("no ruler");
    await page.mouse.move(box.x + 200, box.y + 14);
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 14, { steps: 4 });
    await page.mouse.up();
    const region = page.getByRole("region", { name: "The selection" });
    await region.getByText(/ms selected/).waitFor();
    await region.getByRole("columnheader", { name: "Count" }).click();
    await expect
      .poll(() => region.locator(".timeline-shares li").first().textContent())
      .toMatch(/python3 444 · Thread 444.*%/);
    await region.getByRole("button", { name: /export|save/i }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByText(/CSV/).first().click()]);
    expect(readFileSync((await file.path()) as string, "utf8")).toMatch(/^name,kind,count,/i);
    await page.keyboard.press("Escape");
    await region.waitFor({ state: "detached" });
  });

  test("the trace is saved for other viewers", async () => {
    const page = await open("two ranks");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Trace for Perfetto" }).click(),
    ]);
    const bytes = readFileSync((await file.path()) as string);
    const trace = JSON.parse((bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString("utf8"));
    expect(trace.traceEvents.length).toBeGreaterThan(1000);
  });

  test("lanes close and open, and ranks stand below each other on one axis", async () => {
    const page = await open("two ranks");
    const lane = page.locator(".timeline-lane").first();
    const tall = (await lane.boundingBox())?.height ?? 0;
    await lane.click();
    await expect.poll(async () => (await lane.boundingBox())?.height ?? tall).toBeLessThan(tall);
    await page.getByText("All 2 ranks").click();
    await page.locator(".timeline-head", { hasText: "Rank 0" }).first().waitFor();
    await page.locator(".timeline-stage").press("c");
    await page.locator(".timeline-head", { hasText: "Rank 1" }).first().waitFor();
    await expect.poll(() => new Set(tiles.map((tile) => (tile as unknown as { rank: number }).rank)).size).toBe(2);
  });

  test("thousands of lanes: only those on the screen are in the page", async () => {
    const page = await open("many lanes");
    await expect.poll(() => page.locator(".timeline-lane").count()).toBeLessThan(60);
    await page.locator(".timeline-names").hover();
    for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, 2000);
    await page
      .locator(".timeline-lane", { hasText: /Thread [4-9]\d\d/ })
      .first()
      .waitFor();
    await expect.poll(() => colours(page)).toBeGreaterThan(2);
  });

  test("names that would be markup are text, in the dark too", async () => {
    const page = await open("names", { theme: "dark" });
    await expect.poll(() => page.locator(".timeline-head").first().textContent()).toContain("<img src=x");
    await page.keyboard.press("r");
    await settled(page);
    await page.mouse.move(...(await at(page, 0.2, 38)));
    await page.locator(".timeline-tip", { hasText: "<img src=x" }).waitFor();
    await page.mouse.down();
    await page.mouse.up();
    await panel(page).waitFor();
    await expect.poll(() => panel(page).locator("img").count()).toBe(0);
    await expect.poll(() => page.title()).not.toContain("PWNED");
    await page.getByText("times far outside the training").waitFor();
  });
});
