/** Reports in a real browser: made, changed, brought back, shared as one file that is then opened without any network. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, picture as pictureOf, Server, steady, still, type Tab } from "./harness";

const ROOT = resolve(import.meta.dirname, "../..");
const PYTHON = process.env.STEPSCOPE_PYTHON ?? join(ROOT, ".venv/bin/python");
const STATIC = process.env.STEPSCOPE_STATIC ?? join(ROOT, "src/stepscope/server/static");
const TITLE = "What made the denoiser better";

const text = (page: Page) => page.getByRole("textbox", { name: "Text of the report, in Markdown" });
const preview = (page: Page) => page.locator(".report-preview");

/** What a canvas shows, as a number that changes when a pixel does. */
const picture = (page: Page): Promise<number> => pictureOf(page.locator(".plot canvas"));

async function drawn(page: Page): Promise<void> {
  const plot = page.locator(".plot").first();
  await plot.scrollIntoViewIfNeeded();
  await page.waitForFunction(() =>
    document.querySelector(".plot:not([data-loading])")?.getAttribute("aria-label")?.includes("Last values"),
  );
  await steady(page.locator(".plot canvas"));
}

/** The colours of runs wherever they are named; a run with two would have both here. */
const runColours = (page: Page): Promise<Record<string, string>> =>
  page.locator(".report-run").evaluateAll((all) => {
    const found: Record<string, string> = {};
    for (const one of all) {
      const [name, colour] = [
        one.textContent ?? "",
        getComputedStyle(one.querySelector(".ink") as Element).backgroundColor,
      ];
      if (!(found[name] ??= colour).includes(colour)) found[name] += ` ${colour}`;
    }
    return found;
  });

async function dragChart(page: Page): Promise<void> {
  await still(page, ".plot");
  const box = await page.locator(".plot").first().boundingBox();
  if (!box) throw new Error("there is no chart");
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
}

describe.skipIf(noBrowser)("reports", () => {
  let server: Server;
  let tab: Tab;
  let store: string;
  let id: string;

  beforeAll(async () => {
    server = await Server.start("reports");
    store = join(server.folder, "stepscope-runs");
    id = readdirSync(join(store, "reports")).find((name) => name.startsWith("what-made")) as string;
    tab = await openTab(server, "#/reports");
  });
  beforeEach(async () => {
    await tab.page.goto("about:blank");
    tab.errors.length = tab.strangers.length = 0;
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server?.stop();
  });

  const open = (hash: string) => tab.page.goto(`${server.url}/${hash}`);

  test("are listed and read, with contents, live panels and versions; nobody is kept out", async () => {
    const { page } = tab;
    await open("#/reports");
    await page.getByRole("link", { name: TITLE }).click();
    await drawn(page);
    await expect
      .poll(() => page.getByRole("navigation", { name: "Contents" }).getByRole("link").allTextContents())
      .toContain("What the samples look like");
    await expect.poll(() => page.locator(".report-table tbody tr").first().textContent()).toContain("cosine + EMA");
    const before = await picture(page);
    await dragChart(page);
    await expect.poll(() => picture(page)).not.toBe(before);
    await page.getByRole("link", { name: "What is wrong in the losing run" }).click();
    await page.locator(".report-findings .finding").waitFor();
    await expect.poll(() => page.evaluate(() => location.hash)).toContain(`/report/${id}`);
    expect(await axeFaults(page)).toEqual([]);

    await page.getByRole("button", { name: /Version 2/ }).click();
    await page.getByText("Version 1 beside the current one").waitFor();
    await expect
      .poll(() => page.locator('.version-lines [data-kind="in"]').first().textContent())
      .toContain("What is wrong");
    await page.getByRole("button", { name: "Read it" }).click();
    await page.getByText("This is version 1 of 2.").waitFor();
    await page.getByRole("button", { name: "Read the newest" }).click();
    await page.getByRole("button", { name: /Version 2/ }).waitFor();
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });

  test("are made from the newest runs, written with a slash menu, undone, saved and changed by two people at once", async () => {
    const { page } = tab;
    await open("#/report/new");
    await preview(page).locator(".report-panel").first().waitFor();
    await text(page).fill("---\ntitle: Mine\n---\n\nFirst words.\n\n");
    await text(page).press("Control+End");
    await page.keyboard.type("/char");
    await page
      .getByRole("listbox", { name: "Insert a panel" })
      .getByRole("option", { name: /^Chart/ })
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Add a chart" }).getByRole("combobox", { name: "Metric" }).fill("val/loss");
    await page.locator(".panel-form .plot").waitFor();
    await page.getByRole("button", { name: "Insert", exact: true }).click();
    await expect
      .poll(() => text(page).inputValue())
      .toContain("First words.\n\n```stepscope chart\nkey: val/loss\n```");
    await drawn(page);

    // A word before it does not build the chart anew: its canvas is the same element.
    await page
      .locator(".plot canvas")
      .first()
      .evaluate((canvas) => canvas.setAttribute("data-mine", ""));
    await still(page, ".report-preview");
    await text(page).evaluate((box: HTMLTextAreaElement) => (box.focus(), box.setSelectionRange(21, 21)));
    await page.keyboard.type("New ");
    await preview(page).getByText("New First words.").waitFor();
    await expect.poll(() => page.locator(".plot canvas[data-mine]").count()).toBe(1);
    await page.keyboard.press("Control+z");
    await expect.poll(() => text(page).inputValue()).toContain("\n\nFirst words.\n\n```stepscope chart");

    await page.getByRole("button", { name: "Move up" }).click();
    await expect.poll(() => text(page).inputValue()).toContain("```stepscope chart\nkey: val/loss\n```\n\nFirst words");
    await text(page).press("Control+s");
    await page.waitForFunction(() => /#\/report\/mine-/.test(location.hash));
    const mine = (await page.evaluate(() => location.hash)).match(/report\/([\w-]+)/)?.[1] as string;
    expect(readFileSync(join(store, "reports", mine, "000001.md"), "utf8")).toContain("title: Mine");
    await page.locator(".report-save-state", { hasText: "version 1" }).waitFor();

    // Somebody else saves meanwhile: both texts are shown, and none is lost.
    await text(page).waitFor();
    writeFileSync(join(store, "reports", mine, "000002.md"), "---\ntitle: Mine\n---\n\nTheirs.\n");
    await text(page).press("Control+End");
    await page.keyboard.type("\nMy last words.");
    await text(page).press("Control+s");
    await page.getByRole("dialog", { name: "Someone else saved first" }).getByText("Theirs.").waitFor();
    await page.getByRole("button", { name: "Save mine as version 3" }).click();
    await page.locator(".report-save-state", { hasText: "version 3" }).waitFor();
    expect(readFileSync(join(store, "reports", mine, "000003.md"), "utf8")).toContain("My last words.");
    expect(readFileSync(join(store, "reports", mine, "000002.md"), "utf8")).toContain("Theirs.");

    // What is not saved is kept in this browser.
    await expect.poll(() => text(page).evaluate((box) => box === document.activeElement)).toBe(true);
    await page.keyboard.type(" Unsaved.");
    await page.getByText("not saved yet").waitFor();
    await page.getByRole("toolbar", { name: "Edit the report" }).getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("button", { name: "Continue editing" }).click();
    await expect.poll(() => text(page).inputValue()).toContain("Unsaved.");
    expect(await axeFaults(page)).toEqual([]);
    await text(page).press("Control+s");
    await page.locator(".report-save-state", { hasText: "version 4" }).waitFor();
    expect(tab.errors.filter((error) => !error.includes("409"))).toEqual([]);
  });

  test("take a panel from the Charts page, and are shared by a link that can be revoked", async () => {
    const { page } = tab;
    await open("#/charts");
    await drawn(page);
    await page.locator(".panel").first().hover();
    await page.getByRole("button", { name: "Panel menu" }).first().click();
    await page.getByRole("menuitem", { name: "Add to report…" }).click();
    await page.getByRole("dialog", { name: "Add to a report" }).getByRole("button", { name: TITLE }).click();
    await page.locator(".toast").getByRole("link", { name: TITLE }).click();
    await page.getByRole("button", { name: /Version 3/ }).waitFor();

    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("menuitem", { name: /View-only links/ }).click();
    await page.getByRole("textbox", { name: "Recipient" }).fill("Ada");
    await page.getByRole("button", { name: "Make a link" }).click();
    await expect.poll(() => page.locator(".links-made code").textContent()).toContain("/shared/");
    const link = (await page.locator(".links-made code").textContent()) as string;
    const stranger = await tab.context.browser()?.newContext();
    const other = await stranger?.newPage();
    await other?.goto(link);
    await other?.getByRole("heading", { name: TITLE }).waitFor();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No link yet").waitFor();
    expect((await other?.goto(link))?.status()).toBe(404);
    await stranger?.close();
  });

  test("whose text is hostile are text", async () => {
    const { page } = tab;
    await open("#/reports");
    await page.getByRole("link", { name: /onerror/ }).click();
    await page.locator(".report-problem").first().waitFor();
    await expect.poll(() => page.locator(".report-problem").count()).toBe(2);
    await expect
      .poll(() =>
        page.evaluate(() => document.querySelectorAll('.report img, .report script, a[href^="javascript"]').length),
      )
      .toBe(0);
    await expect.poll(() => page.title()).toMatch(/ · Stepscope$/);
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });

  describe.skipIf(!existsSync(join(STATIC, "report-viewer.html")))("in one file", () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "stepscope-report-"));
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test("open with the network off: charts zoom, pictures step, and nothing is asked for or goes wrong", async () => {
      const file = join(folder, "report.html");
      const made = spawnSync(PYTHON, ["-m", "stepscope", "report", "--dir", store, id, "-o", file], {
        encoding: "utf8",
        env: { ...process.env, STEPSCOPE_STATIC: STATIC },
      });
      expect(made.stderr + made.stdout).toContain("report.html");
      expect(readFileSync(file).byteLength).toBeLessThan(5_000_000);

      const context = await tab.context
        .browser()
        ?.newContext({ offline: true, viewport: { width: 1280, height: 900 } });
      const page = await context?.newPage();
      if (!context || !page) throw new Error("no browser");
      const asked: string[] = [];
      const errors: string[] = [];
      page.on("request", (request) => /^(data|blob):/.test(request.url()) || asked.push(request.url()));
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(`file://${file}`);
      await drawn(page);
      await open(`#/report/${id}`);
      await drawn(tab.page);
      const sizes = (colours: Record<string, string>) => [
        Object.keys(colours).length,
        new Set(Object.values(colours)).size,
      ];
      await expect.poll(async () => sizes(await runColours(tab.page))).toEqual([4, 4]);
      await expect.poll(() => runColours(page)).toEqual(await runColours(tab.page));
      const before = await picture(page);
      await dragChart(page);
      await expect.poll(() => picture(page)).not.toBe(before);
      const zoomed = await steady(page.locator(".plot canvas"));
      await page.locator(".plot").first().dblclick();
      await expect.poll(() => picture(page)).not.toBe(zoomed);

      const image = page.locator(".report-media img").first();
      await image.scrollIntoViewIfNeeded();
      await expect.poll(() => image.getAttribute("src")).toMatch(/^data:image\/png|^blob:/);
      const first = await image.getAttribute("src");
      await page.getByRole("slider", { name: "Step" }).first().fill("0");
      await expect.poll(() => image.getAttribute("src")).not.toBe(first);
      await page.locator(".report-model .graph-viewer").waitFor();
      await page.locator(".report-profile .verdict").waitFor();
      await expect.poll(() => page.locator('a[href^="#/"]').count()).toBe(0);
      expect(await axeFaults(page)).toEqual([]);
      expect(asked).toEqual([`file://${file}`]);
      expect(errors).toEqual([]);
      await context.close();
    });
  });
});
