/**
 * Pans and zooms through a timeline or a call tree in a real Chromium and prints the frames' lengths as JSON.
 * `bench/pan.py` starts it: node bench/pan.mjs ADDRESS HASH timeline|python
 */

import { createRequire } from "node:module";
import { existsSync } from "node:fs";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [address, hash, kind] = process.argv.slice(2);
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const places = [process.env.CHROMIUM, ...NAMES.map((name) => `/usr/bin/${name}`)];
const executablePath = places.find((place) => place && existsSync(place));
if (!executablePath) throw new Error("no Chromium found; set CHROMIUM=/path/to/chromium");

const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
const asked = [];
page.on("response", async (answer) => {
  if (!answer.url().endsWith("/api/timeline/tiles")) return;
  const timing = answer.request().timing();
  await answer.finished();
  asked.push({ ms: answer.request().timing().responseEnd - timing.requestStart, bytes: Number(answer.headers()["content-length"] ?? 0) });
});
const opened = Date.now();
await page.goto(`${address}${hash}`);
const [ready, place] = kind === "python" ? [".icicle-table .sheet-row", ".icicle-stage"] : [".timeline[data-ready] .timeline-lane", ".timeline-stage"];
await page.locator(ready).first().waitFor({ timeout: 120_000 });
await page.waitForTimeout(1500);
const openMs = Date.now() - opened - 1500;

await page.evaluate(() => {
  window.frames_ = [];
  window.long_ = [];
  new PerformanceObserver((list) => window.long_.push(...list.getEntries().map((one) => one.duration))).observe({ entryTypes: ["longtask"] });
  let last = performance.now();
  const next = (now) => {
    window.frames_.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
});
const stage = await page.locator(place).boundingBox();
const at = (x, y) => page.mouse.move(stage.x + stage.width * x, stage.y + stage.height * y);

/** The longest task of the page's main thread in CPU milliseconds: what a frame takes on a machine that does nothing else. */
function longestTask(trace) {
  const events = JSON.parse(trace).traceEvents;
  const main = new Set(events.filter((one) => one.name === "thread_name" && one.args.name === "CrRendererMain").map((one) => `${one.pid}/${one.tid}`));
  const tasks = events.filter((one) => /RunTask$/.test(one.name) && one.tdur !== undefined && main.has(`${one.pid}/${one.tid}`));
  return Math.max(0, ...tasks.map((one) => one.tdur / 1000));
}

async function measured(name, act) {
  await page.evaluate(() => ((window.frames_.length = 0), (window.long_.length = 0)));
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"] });
  await act();
  const task_ms = longestTask((await browser.stopTracing()).toString("utf8"));
  const { frames, long } = await page.evaluate(() => ({ frames: [...window.frames_], long: [...window.long_] }));
  const sorted = [...frames].sort((a, b) => a - b);
  const share = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { name, frames: frames.length, p50: share(0.5), p95: share(0.95), p99: share(0.99), max: share(1), over100: frames.filter((one) => one > 100).length, longest_task: Math.max(0, ...long), task_ms };
}

async function drag(dx, steps) {
  await at(0.5, 0.4);
  await page.mouse.down();
  for (let one = 1; one <= steps; one++) await at(0.5 + (dx * one) / steps, 0.4);
  await page.mouse.up();
}

async function wheel(delta, turns) {
  await at(0.43, 0.4);
  for (let one = 0; one < turns; one++) await page.mouse.wheel(0, delta);
}

async function hold(key, ms) {
  await page.locator(".timeline-stage").focus();
  await page.keyboard.down(key);
  await page.waitForTimeout(ms);
  await page.keyboard.up(key);
}

async function throughTime() {
  results.push(await measured("all of it, dragged", () => drag(0.4, 60)));
  results.push(await measured("zoom in by wheel, 1x to about 3,000x", () => wheel(-120, 38)));
  results.push(await measured("dragged close by", async () => (await drag(-0.45, 60), await drag(-0.45, 60), await drag(0.45, 60))));
  results.push(await measured("D held for 3 s", () => hold("d", 3000)));
  results.push(await measured("zoom out by wheel", () => wheel(120, 30)));
  results.push(await measured("half way in, D then A held", async () => (await hold("d", 2000), await hold("a", 2000))));
  results.push(await measured("W then S held", async () => (await hold("w", 1500), await hold("s", 1500))));
  results.push(await measured("dragged through the lanes", async () => {
    for (const y of [0.2, 0.8, 0.3, 0.9]) {
      await at(0.5, 0.5);
      await page.mouse.down();
      for (let one = 1; one <= 20; one++) await at(0.5, 0.5 + ((y - 0.5) * one) / 20);
      await page.mouse.up();
    }
  }));
  results.push(await measured("pointer moved over events", async () => {
    for (let one = 0; one < 80; one++) await at(0.1 + one * 0.01, 0.15 + (one % 9) * 0.05);
  }));
}

async function throughCalls() {
  results.push(await measured("a frame clicked, eight levels in", async () => {
    for (let depth = 1; depth <= 8; depth++) {
      await page.mouse.click(stage.x + stage.width * 0.2, stage.y + depth * 20 + 10);
      await page.waitForTimeout(260);
    }
  }));
  results.push(await measured("back to all", async () => {
    await page.locator(".icicle-crumbs button").first().click();
    await page.waitForTimeout(300);
  }));
  results.push(await measured("Ctrl + wheel in and out", async () => {
    await at(0.3, 0.2);
    await page.keyboard.down("Control");
    for (let one = 0; one < 30; one++) await page.mouse.wheel(0, -100);
    for (let one = 0; one < 30; one++) await page.mouse.wheel(0, 100);
    await page.keyboard.up("Control");
  }));
  results.push(await measured("pointer moved over frames", async () => {
    for (let one = 0; one < 80; one++) await at(0.1 + one * 0.01, 0.05 + (one % 9) * 0.05);
  }));
  results.push(await measured("turned round to the callers", async () => {
    await page.keyboard.press("i");
    await page.waitForTimeout(500);
  }));
}

const results = [];
if (kind === "python") await throughCalls();
else await throughTime();
console.log(JSON.stringify({ open_ms: openMs, results, tiles: asked }));
await browser.close();
