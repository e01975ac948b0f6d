/** Whole stories: what a person does from the first page to the answer, over real runs, a real server, a real browser. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  closeBrowser,
  noBrowser,
  openTab,
  picture as pictureOf,
  python,
  quiet,
  Server,
  steady,
  still,
  type Tab,
} from "./harness";

interface Told {
  id: string;
  last: Record<string, number | null>;
  pictures: [number, string][];
}

const row = (page: Page, name: string) =>
  page.locator("[data-run]", { has: page.getByRole("link", { name, exact: true }) });
const tick = (page: Page, name: string) => row(page, name).getByRole("checkbox").check();
const goTo = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();

async function search(page: Page, query: string): Promise<void> {
  const box = page.getByRole("combobox", { name: "Query" });
  await box.fill(query);
  await box.press("Enter");
  await box.press("Escape"); // what could be typed next is not wanted
}

/** What a canvas shows, as a number that changes when a pixel does. */
const picture = (page: Page): Promise<number> => pictureOf(page.locator(".plot canvas"));

async function drawn(page: Page): Promise<void> {
  await page.locator(".plot").first().scrollIntoViewIfNeeded();
  await page.waitForFunction(() =>
    document.querySelector(".plot:not([data-loading])")?.getAttribute("aria-label")?.includes("Last values"),
  );
  await steady(page.locator(".plot canvas"));
}

/** A table as its cells; a name that holds a comma is quoted, ours hold none. */
const cells = (csv: string): string[][] =>
  csv
    .replace(/^\ufeff/, "")
    .trim()
    .split("\r\n")
    .map((line) => line.split(","));

describe.skipIf(noBrowser)("stories", () => {
  let server: Server;
  let tab: Tab;
  let told: Record<string, Told>;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "stepscope-stories-"));
    server = await Server.start("stories");
    told = JSON.parse(python("stories_store.py", join(server.folder, "stepscope-runs"))) as Record<string, Told>;
    tab = await openTab(server);
  });
  beforeEach(async () => {
    await tab.page.goto("about:blank");
    tab.errors.length = tab.strangers.length = 0;
    await tab.page.goto(`${server.url}/#/runs`);
    await tab.page.locator("[data-run]").first().waitFor();
  });
  afterAll(async () => {
    await closeBrowser();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("find the run that diverged, and why", async () => {
    const { page } = tab;
    // The last loss of the one run that is not finite stands out, and a query finds it among all.
    await search(page, "status = failed");
    await expect.poll(() => page.locator("[data-run] .run-name").allTextContents()).toEqual(["wide-after"]);
    await page.getByRole("link", { name: "wide-after", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "wide-after" }).waitFor();
    await page.getByText("FloatingPointError: loss is nan at step 1000").first().waitFor();
    await page.getByRole("tab", { name: /^Findings/ }).click();
    const finding = page.locator(".finding").first();
    await finding.getByText("gradients of earlier steps are still there when backward runs").first().waitFor();
    await expect.poll(() => finding.innerText()).toMatch(/train\.py:42.*optimizer\.zero_grad\(\)/s);
    // Is it that? Beside the run that works, whichever of the two is chosen first.
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("link", { name: "All runs", exact: true }).click();
    await search(page, "name = wide-before");
    await tick(page, "wide-before");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    const changed = page.locator("#compare-changed");
    await changed.getByText("Look first at").waitFor();
    await expect
      .poll(() => changed.locator(".changed-headline").innerText())
      .toMatch(/opt\.no-zero-grad.*The curves diverge at step 4\d\d/s);
    await expect.poll(() => changed.locator(".reason-table tbody tr").first().innerText()).toContain("train.py:42");
    await page.getByRole("navigation", { name: "Sections" }).getByRole("button", { name: "Code", exact: true }).click();
    await page
      .locator('#compare-code tr[data-differs] td[data-sign="-"]', { hasText: "optimizer.zero_grad()" })
      .waitFor();
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });

  test("compare five runs and export the table: every cell is what the runs logged", async () => {
    const { page } = tab;
    const names = ["baseline-s0", "mixup-s0", "mixup-s1", "cutmix-s0", "cutmix-s3"];
    for (const name of names) await tick(page, name);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page
      .getByRole("navigation", { name: "Sections" })
      .getByRole("button", { name: "Metrics", exact: true })
      .click();
    await page.getByLabel("Baseline", { exact: true }).selectOption({ label: "baseline-s0" });
    await expect.poll(() => page.locator(".metric-grid thead th[data-base]").innerText()).toContain("baseline-s0");
    await expect.poll(() => page.locator(".metric-table").getAttribute("aria-busy")).toBe("false");
    await page.getByRole("button", { name: "Export the table" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: /CSV/ }).click(),
    ]);
    const [head, ...rows] = cells(readFileSync(await file.path(), "utf8"));
    const metrics = Object.keys(told["mixup-s0"]?.last ?? {});
    expect(rows.map((cell) => cell[0]).sort()).toEqual(metrics.sort());
    for (const cell of rows) {
      const logged = names.map((name) => told[name]?.last[cell[0] as string] as number);
      const base = logged[0] as number;
      for (const [at, name] of names.entries()) {
        const column = head?.indexOf(name) ?? -1;
        const value = logged[at] as number;
        expect(Number(cell[column]), `${cell[0]} of ${name}`).toBe(value);
        if (at === 0) continue;
        expect(head?.slice(column, column + 3)).toEqual([name, `${name} change`, `${name} change %`]);
        expect(Number(cell[column + 1])).toBeCloseTo(value - base, 12);
        expect(Number(cell[column + 2])).toBeCloseTo((100 * (value - base)) / Math.abs(base), 8);
      }
    }
    expect(tab.errors).toEqual([]);
  });

  test("scrub the pictures of two runs with one slider", async () => {
    const { page } = tab;
    const names = ["wide decoder", "baseline"];
    for (const name of names) await tick(page, name);
    await goTo(page, "Media");
    const media = page.locator('.media-key[data-key="val/reconstruction"]');
    await expect.poll(() => media.locator("img").count()).toBe(2);
    await expect
      .poll(async () => (await page.locator(".media-head").allInnerTexts()).sort())
      .toEqual([...names].sort());
    const order = await page.locator(".media-head").allInnerTexts();
    /** The hashes of the newest pictures at or before a step, as the run folders have them. */
    const due = (step: number) => order.map((name) => told[name]?.pictures.filter(([at]) => at <= step).at(-1)?.[1]);
    const seen = () =>
      media
        .locator("img")
        .evaluateAll((all) => all.map((img) => /[0-9a-f]{64}/.exec((img as HTMLImageElement).src)?.[0]));
    await expect.poll(seen).toEqual(due(3000));
    const slider = page.getByRole("slider", { name: "Step" }).first();
    await slider.focus();
    await expect.poll(() => slider.evaluate((one) => one === document.activeElement)).toBe(true);
    for (const [key, step] of [
      ["Home", 0],
      ["ArrowRight", 250],
      ["ArrowRight", 500],
      ["End", 3000],
      ["ArrowLeft", 2500],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => page.locator(".step-value b").innerText()).toBe(step.toLocaleString("en"));
      await expect.poll(seen).toEqual(due(step));
    }
    await expect
      .poll(() => media.locator("img").evaluateAll((all) => all.map((img) => (img as HTMLImageElement).naturalWidth)))
      .toEqual([202, 202]);
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });

  test("make a report, export it, and zoom its chart with the network off", async () => {
    const { page } = tab;
    for (const name of ["wide-before", "wide-after"]) await tick(page, name);
    await page.getByRole("button", { name: "More for the selected runs" }).click();
    await page.getByRole("menuitem", { name: "Make a report" }).click();
    const text = page.getByRole("textbox", { name: "Text of the report, in Markdown" });
    await page.locator(".report-preview .report-panel").first().waitFor();
    await expect.poll(() => text.inputValue()).toContain(told["wide-after"]?.id);
    const runs = /^runs: .*$/m.exec(await text.inputValue())?.[0] ?? "";
    await text.fill(`---\ntitle: Why wide-after broke\n${runs}\n---\n\nNothing cleared the **gradients**.\n\n`);
    await text.press("Control+End");
    await page.keyboard.type("/char");
    await page.getByRole("option", { name: /^Chart/ }).waitFor();
    await page.keyboard.press("Enter");
    await page
      .getByRole("dialog", { name: "Add a chart" })
      .getByRole("combobox", { name: "Metric" })
      .fill("train/grad_norm");
    await page.locator(".panel-form .plot").waitFor();
    await page.getByRole("button", { name: "Insert", exact: true }).click();
    await text.press("Control+s");
    await page.waitForFunction(() => /#\/report\/why-wide-/.test(location.hash));
    await page.getByRole("button", { name: "Done", exact: true }).click();
    await page.getByRole("button", { name: "Share" }).click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: /One HTML file/ }).click(),
    ]);
    const file = join(folder, "report.html");
    await saved.saveAs(file);
    expect(readFileSync(file).byteLength).toBeLessThan(5_000_000);

    const context = await tab.context.browser()?.newContext({ offline: true, viewport: { width: 1280, height: 900 } });
    const shared = await context?.newPage();
    if (!context || !shared) throw new Error("no browser");
    const asked: string[] = [];
    const errors: string[] = [];
    shared.on("request", (request) => /^(data|blob):/.test(request.url()) || asked.push(request.url()));
    shared.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    shared.on("pageerror", (error) => errors.push(error.message));
    await shared.goto(`file://${file}`);
    await shared.getByRole("heading", { name: "Why wide-after broke" }).waitFor();
    await expect.poll(() => shared.locator("strong", { hasText: "gradients" }).count()).toBe(1);
    await drawn(shared);
    const whole = await steady(shared.locator(".plot canvas"));
    await still(shared, ".plot");
    const box = (await shared.locator(".plot").first().boundingBox()) as {
      x: number;
      y: number;
      width: number;
      height: number;
    };
    await shared.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
    await shared.mouse.down();
    await shared.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2, { steps: 5 });
    await shared.mouse.up();
    await expect.poll(() => picture(shared)).not.toBe(whole);
    await still(shared, ".plot");
    await shared.locator(".plot").first().dblclick();
    await shared.mouse.move(2, 2);
    await expect.poll(() => picture(shared)).toBe(whole);
    expect([asked, errors]).toEqual([[`file://${file}`], []]);
    await context.close();
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });

  test("follow a run that goes on, and go on after the server was started again", async () => {
    const { page } = tab;
    await server.tell("start long-haul");
    await page.getByRole("link", { name: "long-haul", exact: true }).click();
    await page.getByRole("tab", { name: "Charts" }).click();
    await drawn(page);
    await page.locator(".run-head .status", { hasText: "running" }).waitFor();
    // Every frame is looked at: the canvas stays the same element, and never stands there empty.
    await page.evaluate(() => {
      const first = document.querySelector<HTMLCanvasElement>(".plot canvas");
      const seen = { frames: 0, other: 0, empty: 0 };
      Object.assign(window, { seen });
      const look = () => {
        const now = document.querySelector<HTMLCanvasElement>(".plot canvas");
        seen.frames++;
        if (now !== first) seen.other++;
        if (
          !now
            ?.getContext("2d")
            ?.getImageData(0, 0, now.width, now.height)
            .data.some((byte) => byte !== 0)
        )
          seen.empty++;
        requestAnimationFrame(look);
      };
      look();
    });
    for (let time = 0; time < 3; time++) {
      const before = await page.locator(".plot").first().getAttribute("aria-label");
      await server.tell("log");
      await expect.poll(() => page.locator(".plot").first().getAttribute("aria-label")).not.toBe(before);
    }
    const seen = () =>
      page.evaluate(() => (window as unknown as { seen: { frames: number; other: number; empty: number } }).seen);
    await expect.poll(async () => (await seen()).frames).toBeGreaterThan(10);
    expect(await seen()).toMatchObject({ other: 0, empty: 0 });
    await server.tell("end");
    await page.locator(".run-head .status", { hasText: "finished" }).waitFor();

    // The server is gone: it is said, and what was known stays. It comes back: the page goes on without being touched.
    await server.tell("start night-shift");
    await page.getByRole("link", { name: "All runs", exact: true }).click();
    await row(page, "night-shift").locator(".status", { hasText: "running" }).waitFor();
    server.kill();
    await page.getByText(/Disconnected, retrying/).waitFor();
    await expect.poll(() => row(page, "night-shift").count()).toBe(1);
    tab.errors.length = 0;
    await page.evaluate(() => Object.assign(window, { untouched: true }));
    python("stories_store.py", join(server.folder, "stepscope-runs"), "meanwhile"); // training needs no server
    await server.restart("same token");
    await page.locator('.live[data-state="live"]').waitFor();
    await row(page, "meanwhile").locator(".status", { hasText: "finished" }).waitFor();
    await server.tell("start the-day-after");
    await row(page, "the-day-after").locator(".status", { hasText: "running" }).waitFor();
    await expect.poll(() => page.evaluate(() => "untouched" in window)).toBe(true);
    await server.tell("end");
    await row(page, "the-day-after").locator(".status", { hasText: "finished" }).waitFor();
    expect(tab.strangers).toEqual([]);
  });
});

describe.skipIf(noBrowser)("a store full of harm", () => {
  const PAGES = ["runs", "charts", "compare", "parameters", "media", "distributions", "model", "profile", "reports"];
  const PARTS = ["overview", "charts", "findings", "media", "console", "files", "system", "step"];
  /** What a logged page, or a picture that is none, may not do is said by the browser; damaged data is refused by the server. */
  const REFUSED = /sandboxed|content security policy|status of 422/i;

  test("does nothing on any page: the title stays, no script runs, no request leaves", async () => {
    const server = await Server.start("stories", 1);
    const { page, context, errors, strangers } = await openTab(server);
    const titles: string[] = [];
    const look = async (where: string): Promise<void> => {
      await quiet(page);
      await still(page, "main");
      titles.push(await page.title());
      const made = () => document.querySelectorAll('img[src="x"], main script, a[href^="javascript" i]').length;
      await expect.poll(() => page.evaluate(made), { message: where }).toBe(0);
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), {
          message: `${where} is as wide as the window`,
        })
        .toBe(true);
    };
    try {
      await page.locator("[data-run]").first().waitFor();
      const ids = await page
        .locator("[data-run]")
        .evaluateAll((rows) => rows.map((one) => (one as HTMLElement).dataset.run ?? ""));
      for (const name of PAGES) {
        await page.goto(`${server.url}/#/${name}?runs=${ids.slice(0, 4).join(",")}`);
        await look(name);
      }
      // The newest has the media, the oldest the console and the files.
      for (const id of [ids[0], ids.at(-1)])
        for (const part of PARTS) {
          await page.goto(`${server.url}/#/run/${id}?part=${part}`);
          await page.getByRole("tabpanel").waitFor();
          await look(`${part} of ${id === ids[0] ? "the newest" : "the oldest"}`);
        }
      await page.goto(`${server.url}/#/reports`);
      await page.getByRole("link", { name: /onerror/ }).click();
      await page.locator(".report-problem").first().waitFor();
      await look("the report");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: /Find a page/ }).fill("<img");
      await page
        .getByRole("option", { name: /onerror/ })
        .first()
        .waitFor();
      await look("what is found by name");
      expect(titles.filter((title) => title === "PWNED" || title === "")).toEqual([]);
      expect(strangers).toEqual([]);
      expect(errors.filter((error) => !REFUSED.test(error))).toEqual([]);
    } finally {
      await context.close();
      await closeBrowser();
      await server.stop();
    }
  });
});
