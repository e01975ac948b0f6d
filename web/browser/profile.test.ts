/** The Profile page in a real browser, over a real trace of a GPU and over what may be wrong with one. */

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, quiet, Server, still, typeInto, type Tab } from "./harness";
import { shiftsOf, watchShifts } from "./settled";

const tabOf = (page: Page, name: string) => page.getByRole("tab", { name, exact: true });
const find = (page: Page) => page.locator(".sheet-filter input").first();
const grid = (page: Page) => page.locator(".sheet-grid").first();
const rows = (page: Page) => page.locator(".sheet-row");
const names = (page: Page) => page.locator(".sheet-row .sheet-name").allTextContents();
const column = (page: Page, at: number) => page.locator(`.sheet-row > :nth-child(${at})`).allTextContents();

describe.skipIf(noBrowser)("the Profile page", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("profile");
  });
  afterEach(async () => {
    expect(tab.errors).toEqual([]);
    expect(tab.strangers).toEqual([]);
    await tab.context.close();
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  /** Opens the page and chooses a run by its name. */
  async function open(run: string, hash = "#/profile", options: { theme?: "light" | "dark" } = {}): Promise<Page> {
    tab = await openTab(server, hash, options);
    const { page } = tab;
    const choice = page.getByRole("combobox", { name: "Run", exact: true });
    await choice.waitFor();
    await choice.selectOption({ label: run });
    return page;
  }

  test("on a phone the advice keeps its place while the steps are on their way", async () => {
    tab = await openTab(server, "#/runs");
    const { page } = tab;
    await page.setViewportSize({ width: 390, height: 900 });
    await page.addInitScript(watchShifts);
    await page.route("**/api/profile/answer", async (route) => {
      await page.locator(".advice, [aria-label='Advice']").first().waitFor({ state: "attached" });
      await route.continue();
    });
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/profile`);
    await quiet(page);
    await still(page, "main");
    const { sum, moved } = await shiftsOf(page);
    expect(sum, moved.join("\n")).toBeLessThan(0.05);
  });

  test("opens on the newest profile: the verdict, the steps, the advice; empty tabs say why", async () => {
    tab = await openTab(server, "#/profile");
    const { page } = tab;
    await page.locator(".verdict-text").waitFor();
    await expect.poll(() => page.locator(".verdict-text").textContent()).toMatch(/GPU|step/);
    await expect
      .poll(() => page.getByRole("combobox", { name: "Profile", exact: true }).locator("option").allTextContents())
      .toEqual(["steps 4 to 5 · PyTorch"]);
    await expect.poll(() => page.getByRole("region", { name: "Advice" }).count()).toBe(1);
    await page.locator(".legend li", { hasText: "Backward" }).first().waitFor();
    await page.locator(".profile-checks li", { hasText: "parts sum to the step" }).first().waitFor();
    await expect.poll(() => tabOf(page, "Ranks").getAttribute("title")).toMatch(/one process/);
    await tabOf(page, "Ranks").click();
    await page.getByText("Ranks: nothing in this profile").waitFor();
    await expect.poll(() => page.url()).toContain("tab=ranks");
    await page.goBack();
    await page.locator(".verdict-text").waitFor();
  });

  test("bars tell every part under the mouse, and the odd first step stands apart", async () => {
    const page = await open("waits for data");
    await page.locator(".verdict-text", { hasText: "waiting for data" }).waitFor();
    await expect.poll(() => page.locator(".legend").first().textContent()).toMatch(/^Data54%.*Backward27%/);
    await expect
      .poll(() => page.locator(".figures").first().textContent())
      .toMatch(/median step15\.1 ms.*p99.*first step1?\d.*×/);
    await still(page, ".profile-body", ".parts-bars canvas");
    const box = await page.locator(".parts-bars canvas").first().boundingBox();
    if (!box) throw new Error("the bars are not drawn");
    await page.mouse.move(box.x + 58, box.y + box.height - 60);
    await expect
      .poll(() => page.locator(".profile-tip").textContent())
      .toMatch(/step 0 150 ms.*Backward.*Forward.*Data.*left out of the typical/);
    await page.mouse.move(box.x + 300, box.y + box.height - 30);
    await expect.poll(() => page.locator(".profile-tip").textContent()).toMatch(/Waiting for the next batch/);
    await page.mouse.move(5, 5);
    await page.locator(".profile-tip").waitFor({ state: "detached" });
  });

  test("a table sorts, filters, adds up, chooses its columns and tells a row in full", async () => {
    const page = await open("gpt on a GPU", "#/profile?tab=operators");
    await still(page, ".profile-body", ".sheet-row");
    const total = (await page.locator(".sheet-totals > :nth-child(2)").textContent()) ?? "";
    await page.getByRole("columnheader", { name: "Calls" }).click();
    const calls = async () => (await column(page, 2)).map((text) => Number(text.replace(",", "")));
    await expect
      .poll(async () => (await calls()).slice(0, 20).every((value, at, all) => value <= (all[at - 1] ?? value)))
      .toBe(true);
    await expect
      .poll(() => page.getByRole("columnheader", { name: "Calls" }).getAttribute("aria-sort"))
      .toBe("descending");

    await typeInto(page, "/", find(page), "/^aten::(mm|addmm)$/");
    await expect.poll(async () => (await names(page)).sort()).toEqual(["aten::addmm", "aten::mm"]);
    await expect.poll(() => page.locator(".sheet-bar .quiet").first().textContent()).toMatch(/^2 of \d+ rows$/);
    await expect.poll(() => page.locator(".sheet-totals > :nth-child(2)").textContent()).not.toBe(total);
    await page.keyboard.press("Escape");
    await expect.poll(() => rows(page).count()).toBeGreaterThan(10);

    const heads = await page.getByRole("columnheader").count();
    await page.getByRole("button", { name: "Choose the columns" }).first().click();
    await page.locator(".sheet-columns").getByRole("checkbox").first().click();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("columnheader").count()).toBe(heads - 1);
    await page.reload();
    await rows(page).first().waitFor();
    await expect.poll(() => page.getByRole("columnheader").count()).toBe(heads - 1);

    await still(page, ".profile-body", ".sheet-row");
    await grid(page).press("ArrowDown");
    await grid(page).press("ArrowDown");
    await grid(page).press("Enter");
    await expect
      .poll(async () => (await names(page))[1] === (await page.locator(".sheet-details strong").textContent()))
      .toBe(true);
    await expect.poll(() => page.locator(".sheet-row > .number").first().getAttribute("title")).toMatch(/: [\d,]+/);
    await page.keyboard.press("Escape");
    await page.locator(".sheet-details").waitFor({ state: "detached" });
  });

  test("modules are a tree that the keyboard opens and closes", async () => {
    const page = await open("gpt on a GPU", "#/profile?tab=modules");
    await still(page, ".profile-body", ".sheet-row");
    const before = await rows(page).count();
    await grid(page).press("ArrowDown");
    await expect.poll(() => rows(page).first().getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rows(page).count()).toBeLessThan(before);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rows(page).count()).toBe(before);
  });

  test("twelve thousand rows scroll with a few on the page", async () => {
    const page = await open("many operators", "#/profile?tab=operators");
    await rows(page).first().waitFor();
    await expect.poll(() => page.locator(".sheet-bar .quiet").first().textContent()).toBe("12,000 rows"); // the newest run's rows stand there first
    await expect.poll(() => rows(page).count()).toBeLessThan(80);
    const most = await grid(page).evaluate(async (box) => {
      let most = 0;
      for (let at = 0; at < 41; at++) {
        box.scrollTop = at * 8000;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        most = Math.max(most, box.querySelectorAll(".sheet-row").length);
      }
      return most;
    });
    expect(most).toBeLessThan(80);
    await typeInto(page, "/", find(page), "operator_11999");
    await expect.poll(() => names(page)).toEqual(["my::operator_11999"]);
  });

  test("kernels, memory and ranks are drawn beside their tables", async () => {
    const page = await open("gpt on a GPU", "#/profile?tab=kernels");
    await page.getByRole("region", { name: "Kernels by kind" }).locator(".legend li", { hasText: "gemm" }).waitFor();
    await tabOf(page, "Memory").click();
    await page
      .locator(".curve-peak", { hasText: /peak .*MiB at/ })
      .first()
      .waitFor();
    await page.getByRole("combobox", { name: "Run", exact: true }).selectOption({ label: "two ranks" });
    await tabOf(page, "Ranks").click();
    await page
      .getByRole("region", { name: "The mean step of each rank" })
      .locator(".legend li", { hasText: "Computation" })
      .waitFor();
    await page.getByRole("combobox", { name: "Rank" }).selectOption("1");
    await expect.poll(() => page.url()).toContain("rank=1");
  });

  test("two profiles are compared, and what got slower is red", async () => {
    const page = await open("waits for data", "#/profile?tab=diff");
    // It has no other profile of its own: the nearest run of its project that has one stands in.
    await page.getByRole("combobox", { name: "Profile to compare with" }).waitFor();
    await page.getByRole("combobox", { name: "Run to compare with" }).selectOption({ label: "before" });
    await page.locator(".verdict-text", { hasText: /waits for data is 1\.\d+x slower/ }).waitFor();
    await page.getByRole("combobox", { name: "Profile to compare with" }).selectOption("p1");
    await page.locator(".verdict-text", { hasText: /1\.6\d+x slower/ }).waitFor();
    const data = page.locator(".sheet-row", { hasText: "Data" }).first();
    await expect.poll(() => data.locator(".sheet-more").first().textContent()).toMatch(/^\+6/);
  });

  test("what is damaged says so, and the rest stands", async () => {
    const page = await open("damaged");
    await page.locator(".profile-damage", { hasText: "rank0.trace.json.gz is not a trace" }).waitFor();
    await page.getByRole("combobox", { name: "Profile", exact: true }).selectOption({ label: "p2 · damaged" });
    await page.getByText("This profile cannot be read").waitFor();
    await page.getByRole("combobox", { name: "Run", exact: true }).selectOption({ label: "not profiled" });
    await page.getByText("This run has no profile").waitFor();
    await page.getByText("stepscope profile train.py", { exact: true }).waitFor();
  });

  test("names that are markup are words, on every tab", async () => {
    tab = await openTab(server, "#/profile");
    const { page } = tab;
    const choice = page.getByRole("combobox", { name: "Run", exact: true });
    await choice.waitFor();
    await expect.poll(() => choice.locator("option").allTextContents()).toContainEqual(expect.stringMatching(/^<img/));
    const hostile = (await choice.locator("option").allTextContents()).find((name) => name.startsWith("<img")) ?? "";
    await choice.selectOption({ label: hostile });
    for (const name of ["Overview", "Operators", "Timeline", "Diff"]) {
      await tabOf(page, name).click();
      await page.getByRole("tabpanel", { name, exact: true }).waitFor();
      await quiet(page);
      await still(page, ".profile-body");
    }
    await tabOf(page, "Operators").click();
    await rows(page).first().waitFor();
    await expect.poll(async () => (await names(page)).some((name) => name.startsWith("<img src=x"))).toBe(true);
    await expect.poll(() => page.locator("main img").count()).toBe(0);
    await expect.poll(() => page.title()).toBe("Profile · Stepscope");
  });

  test("an address that names nothing says so, and another run can be chosen", async () => {
    const evil = encodeURIComponent("<img src=x onerror=\"document.title='PWNED'\">");
    tab = await openTab(
      server,
      `#/profile?of=${evil}&profile=..%2F..&rank=99&tab=${evil}&table=${evil}&before=${evil}`,
    );
    const { page } = tab;
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    tab.errors.length = 0; // the browser prints the 404
    await page.getByRole("combobox", { name: "Run", exact: true }).selectOption({ label: "waits for data" });
    await page.locator(".verdict-text").waitFor();
    await expect.poll(() => page.title()).toBe("Profile · Stepscope");
  });

  test("on a run's page it is that run's, and the numbers go to the run's parts", async () => {
    tab = await openTab(server, "#/runs");
    const { page } = tab;
    await page.getByRole("link", { name: "waits for data" }).click();
    await page.getByRole("tab", { name: "Profile" }).click();
    await page.locator(".verdict-text").waitFor();
    await expect.poll(() => page.getByRole("combobox", { name: "Run", exact: true }).count()).toBe(0);
    await tabOf(page, "Operators").click();
    await rows(page).first().waitFor();
    await page.keyboard.press("1");
    await page.getByRole("region", { name: "Reproduce" }).waitFor();
  });

  test("tables and timelines are saved as files", async () => {
    const page = await open("waits for data", "#/profile?tab=operators");
    await rows(page).first().waitFor();
    await page
      .getByRole("button", { name: /^Export: / })
      .first()
      .click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: /Save as CSV/ }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("waits-for-data-p1-operators.csv");
    expect(readFileSync(await file.path(), "utf8")).toMatch(/aten::mm/);
    await page.getByRole("button", { name: "Export the profile" }).click();
    const [zipped] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: /All tables/ }).click(),
    ]);
    expect(zipped.suggestedFilename()).toBe("waits-for-data-p1.zip");
  });

  test("a running script is asked for its next steps; one that has ended is not", async () => {
    const page = await open("not profiled");
    const button = page.getByRole("button", { name: "Profile the next steps" });
    await expect.poll(() => button.isDisabled()).toBe(true);
    await expect.poll(() => button.getAttribute("title")).toMatch(/has ended/);
    await server.tell("start goes-on");
    await page.reload();
    await page.getByRole("combobox", { name: "Run", exact: true }).selectOption({ label: "goes-on" });
    await button.click();
    await page.getByRole("button", { name: "Waiting for the run …" }).waitFor();
    await server.tell("end");
  });

  test.each(["light", "dark"] as const)("on a telephone nothing runs out of the page (%s)", async (theme) => {
    const page = await open("gpt on a GPU", "#/profile", { theme });
    await page.setViewportSize({ width: 390, height: 800 });
    for (const name of ["Overview", "Operators", "Kernels", "Memory", "Diff"]) {
      await tabOf(page, name).click();
      await page.getByRole("tabpanel", { name, exact: true }).waitFor();
      await still(page, ".profile-body");
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth), { message: name })
        .toBe(0);
    }
  });
});
