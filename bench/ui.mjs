/**
 * Opens one address in a fresh Chromium profile and says as JSON when the wanted thing was there and when the page had settled.
 * `bench/ui.py` starts it: node bench/ui.mjs '{"url": …, "wanted": "canvas", "act": "zoom" | "live" | "busy" | null}'
 */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const plan = JSON.parse(process.argv[2]);
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const places = [process.env.CHROMIUM, ...NAMES.map((name) => `/usr/bin/${name}`)];
const executablePath = places.find((place) => place && existsSync(place));
if (!executablePath) throw new Error("no Chromium found; set CHROMIUM=/path/to/chromium");

const QUIET_MS = 1500;
const MOST_MS = plan.most_ms ?? 90_000;

const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({ viewport: { width: 1440, height: plan.height ?? 900 } });
const page = await context.newPage();
await page.addInitScript(
  ({ wanted, speed }) => {
    if (speed > 1) {
      // A day's timers in minutes: every wait is shorter, every clock faster, by the same factor.
      const wait = window.setTimeout;
      const again = window.setInterval;
      window.setTimeout = (work, ms = 0, ...rest) => wait(work, ms / speed, ...rest);
      window.setInterval = (work, ms = 0, ...rest) => again(work, ms / speed, ...rest);
      const now = Date.now;
      const start = now();
      Date.now = () => start + (now() - start) * speed;
    }
    const seen = { first: null, last: 0, long: [] };
    window.seen_ = seen;
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) {
        seen.long.push(one.duration);
        seen.last = Math.max(seen.last, one.startTime + one.duration);
      }
    }).observe({ entryTypes: ["longtask"] });
    // Only until the wanted thing is there: a page that is asked for every frame would never rest.
    const look = () => {
      const box = document.querySelector(wanted)?.getBoundingClientRect();
      if (box && box.width > 0 && box.height >= 0) requestAnimationFrame(() => (seen.first ??= performance.now()));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    addEventListener("DOMContentLoaded", () =>
      new MutationObserver(() => (seen.last = performance.now())).observe(document.documentElement, { subtree: true, childList: true, attributes: true }),
    );
  },
  { wanted: plan.wanted, speed: plan.speed ?? 1 },
);

const state = () => page.evaluate(() => ({ ...window.seen_, now: performance.now() }));
const session = await context.newCDPSession(page);
await session.send("Performance.enable");

async function heap() {
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => metrics.find((one) => one.name === name)?.value ?? 0;
  return { heap_mb: of("JSHeapUsedSize") / 1e6, nodes: of("Nodes"), listeners: of("JSEventListeners") };
}

/** The longest task of the page's main thread in CPU milliseconds: what it takes on a machine that does nothing else. */
function longestTask(trace) {
  const events = JSON.parse(trace).traceEvents;
  const mains = new Set(events.filter((one) => one.name === "thread_name" && one.args.name === "CrRendererMain").map((one) => `${one.pid} ${one.tid}`));
  const tasks = events.filter((one) => one.ph === "X" && one.name.endsWith("RunTask") && mains.has(`${one.pid} ${one.tid}`));
  return tasks.reduce((most, one) => Math.max(most, (one.tdur ?? 0) / 1000), 0);
}

async function settled() {
  const end = Date.now() + MOST_MS;
  for (;;) {
    await page.waitForTimeout(200);
    const now = await state();
    if (now.first !== null && now.now - Math.max(now.last, now.first) > QUIET_MS) return now;
    if (Date.now() > end) return now;
  }
}

await page.goto(plan.url, { waitUntil: "commit" });
if (plan.pick) {
  // A tool that draws no run by itself is told to draw all of them, as soon as it can be told.
  await page.locator(plan.pick).first().click({ timeout: MOST_MS });
}
const now = await settled();
const out = {
  first_ms: now.first,
  settled_ms: now.first === null ? null : Math.max(now.first, now.last),
  longest_task_ms: Math.max(0, ...now.long),
  ...(await heap()),
};

if (plan.act === "zoom") {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await page.evaluate(() => (window.seen_.long.length = 0));
  const box = await page.locator(plan.wanted).first().boundingBox();
  const at = (x, y = 0.5) => page.mouse.move(box.x + box.width * x, box.y + box.height * y, { steps: 4 });
  for (const [from, to] of [[0.2, 0.8], [0.3, 0.6], [0.2, 0.9]]) {
    await at(from);
    await page.mouse.down();
    await at(to);
    await page.mouse.up();
    await page.waitForTimeout(900);
  }
  for (let turn = 0; turn < 20; turn++) {
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, turn < 12 ? 120 : -120);
    await page.keyboard.up("Control");
    await page.waitForTimeout(60);
  }
  await page.waitForTimeout(1200);
  out.zoom_longest_ms = Math.max(0, ...(await state()).long);
  out.zoom_cpu_ms = longestTask((await browser.stopTracing()).toString("utf8"));
}

if (plan.act === "live") {
  out.live = [];
  let asks = 0; // a page that stands still would keep its memory too
  page.on("requestfinished", (request) => (asks += Number(request.url().endsWith("/api/lines"))));
  for (let part = 0; part <= 6; part++) {
    out.live.push({ s: Math.round((part * plan.live_s) / 6), asks, ...(await heap()) });
    if (part < 6) await page.waitForTimeout((plan.live_s * 1000) / 6);
  }
}
if (plan.act === "busy") {
  const cdp = await browser.newBrowserCDPSession();
  const cpu = async () => {
    const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
    return Object.fromEntries(["renderer", "gpu", "browser"].map((type) => [type, sum(processInfo.filter((one) => one.type.toLowerCase().startsWith(type)).map((one) => one.cpuTime))]));
  };
  const sum = (values) => values.reduce((all, one) => all + one, 0);
  let asks = 0;
  page.on("requestfinished", (request) => (asks += Number(request.url().endsWith("/api/lines"))));
  if (process.env.PROFILE) {
    await session.send("Profiler.enable");
    await session.send("Profiler.start");
  }
  const before = await cpu();
  await page.waitForTimeout(plan.busy_s * 1000);
  const after = await cpu();
  if (process.env.PROFILE) (await import("node:fs")).writeFileSync(process.env.PROFILE, JSON.stringify((await session.send("Profiler.stop")).profile));
  out.busy = { asks, panels: await page.locator(plan.wanted).count(), ...Object.fromEntries(Object.keys(after).map((type) => [type, (after[type] - before[type]) / plan.busy_s])) };
}
await browser.close();
console.log(JSON.stringify(out));
