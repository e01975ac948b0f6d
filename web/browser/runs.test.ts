/** The Runs page over two dozen real runs: find, sort, group, choose, edit, follow. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, quiet, Server, typeInto, type Tab } from "./harness";

describe.skipIf(noBrowser)("the Runs page", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("usual");
  });
  afterEach(async () => {
    // A query that is half typed is asked for too, and the browser itself notes the answer 400.
    expect(tab.errors.filter((error) => !error.includes("status of 400"))).toEqual([]);
    expect(tab.strangers).toEqual([]);
    await tab.context.close();
  });
  afterAll(async () => {
    await closeBrowser();
    await server.stop();
  });

  const open = async (hash = "#/runs") => {
    tab = await openTab(server, hash);
    await tab.page.locator("[data-run]").first().waitFor();
    return tab.page;
  };
  const query = () => tab.page.getByRole("combobox", { name: "Query" });
  const names = () => tab.page.locator(".run-name").allTextContents();
  const column = (key: string) => tab.page.locator(`.grid-rows [data-column="${key}"]`).allTextContents();

  test("shows every run, newest first, with status, spark line and the metrics that matter", async () => {
    const page = await open();
    await expect.poll(() => page.locator(".matched").textContent()).toBe("24 runs");
    await expect.poll(async () => (await names())[0]).toBe("brave-otter-0");
    await expect.poll(async () => (await column("status"))[3]).toBe("failed");
    await expect.poll(() => page.locator(".spark path").count()).toBe(24);
    await expect.poll(() => page.locator(".spark-broken").count()).toBe(1);
    await expect.poll(() => page.title()).toBe("Runs · Stepscope");
  });

  test("filters as one types, and the address remembers", async () => {
    const page = await open();
    await typeInto(page, "/", query(), "status = failed");
    await page.keyboard.press("Enter");
    await page.getByText("1 of 24 runs").waitFor();
    await expect.poll(names).toEqual(["gentle-stoat-3"]);
    await page.waitForFunction(() => location.hash.includes("q=status"));
    await page.reload();
    await page.getByText("1 of 24 runs").waitFor();
  });

  test("completes fields and values", async () => {
    const page = await open();
    await typeInto(page, "/", query(), "stat");
    await page.getByRole("option", { name: "status" }).first().waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => query().inputValue()).toBe("status ");
    await page.keyboard.type("= fai");
    await page.getByRole("option", { name: "failed" }).waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => page.getByRole("combobox", { name: "Query" }).inputValue()).toBe("status = failed ");
    await page.getByText("1 of 24 runs").waitFor();
  });

  test("points at the letter that is wrong and keeps the rows", async () => {
    const page = await open();
    await query().fill("status = fialed"); // at once: what was half typed may be a query that other rows match
    await page.keyboard.press("Enter");
    const problem = page.locator("#query-error");
    await problem.waitFor();
    await expect.poll(() => problem.locator("pre").textContent()).toBe(`status = fialed\n${" ".repeat(9)}^`);
    await expect.poll(() => problem.textContent()).toContain("fialed");
    await expect.poll(names).toHaveLength(24);
  });

  test("sorts by a click, and the best value is marked", async () => {
    const page = await open();
    const head = page.locator('[role="columnheader"][data-column^="train/loss"]').first();
    await head.locator(".head-button").click();
    await page.waitForFunction(() => document.querySelector('[role="columnheader"][aria-sort="ascending"]'));
    await page.waitForFunction(() => location.hash.includes("sort="));
    const key = (await head.getAttribute("data-column")) as string;
    await expect
      .poll(async () =>
        (await column(key))
          .slice(0, 23)
          .map(Number)
          .every((value, at, all) => at === 0 || value >= (all[at - 1] ?? 0)),
      )
      .toBe(true);
    await expect.poll(async () => (await column(key)).at(-1)).toBe("NaN");
    await expect.poll(() => page.locator(".row").nth(1).locator(".cell-best").count()).toBeGreaterThan(0);
    await page.goBack();
    await page.waitForFunction(() =>
      document.querySelector('[role="columnheader"][data-column="created"][aria-sort="descending"]'),
    );
  });

  test("groups by any column tell the means of their runs, and fold", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Group" }).click();
    await page.getByRole("option", { name: /optimizer/ }).click();
    await page.locator(".row-group").first().waitFor();
    const allCounts = () => page.locator(".group-count").allTextContents();
    await expect.poll(async () => (await allCounts()).map(Number).reduce((sum, count) => sum + count, 0)).toBe(24);
    const mean = page.locator('.row-group [data-column^="train/loss"]').first();
    await expect.poll(() => mean.textContent()).toMatch(/^0\.\d+ ± 0\.\d+$/);
    await expect
      .poll(() => mean.locator(".cell-mean").getAttribute("title"))
      .toMatch(/the mean of \d+ (of \d+ )?runs, ± their standard deviation/);
    const counts = await allCounts();
    await page.locator(".group-toggle").first().click();
    await expect.poll(() => page.locator("[data-run]").count()).toBe(24 - Number(counts[0]));
  });

  test("columns are picked by name and kept in the address", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("textbox", { name: "Find a column" }).fill("notes");
    await page.locator(".picker-list").getByText("Notes").click();
    await page.keyboard.press("Escape");
    await page.locator('[role="columnheader"][data-column="notes"]').waitFor();
    await page.waitForFunction(() => /cols=[^&]*notes/.test(location.hash));
    await expect.poll(async () => (await column("notes"))[2]).toContain("warm up longer");
  });

  test("runs are chosen by keyboard and mouse and go to Charts", async () => {
    const page = await open();
    for (const key of ["j", "x", "j", "j", "x"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Chart 2 runs" }).waitFor();
    const boxes = page.locator(".grid-rows input[type=checkbox]");
    await boxes.nth(5).click({ modifiers: ["Shift"] });
    await page.getByRole("button", { name: "Chart 5 runs" }).click();
    await page.waitForFunction(() => location.hash.startsWith("#/charts?"));
    await expect.poll(() => page.evaluate(() => /runs=([^&]*)/.exec(location.hash)?.[1]?.split(",").length)).toBe(5);
    await page.goBack();
    await page.getByRole("button", { name: "Chart 5 runs" }).waitFor();
  });

  test("tags and notes are edited in place and survive a reload", async () => {
    const page = await open();
    const row = page.locator("[data-run]").nth(1);
    await row.hover();
    await row.getByRole("button", { name: "Add a tag" }).click();
    await page.getByRole("textbox", { name: "New tag" }).fill("from the browser");
    await page.keyboard.press("Enter");
    await row.getByText("from the browser").waitFor();
    await page.reload();
    await page.locator("[data-run]").nth(1).getByText("from the browser").waitFor();
    await page.locator("[data-run]").nth(1).getByText("from the browser").hover();
    await page.getByRole("button", { name: "Remove tag from the browser" }).click();
    await expect.poll(() => page.getByText("from the browser").count()).toBe(0);
  });

  test("one project at a time", async () => {
    const page = await open();
    await page.getByRole("button", { name: /^Project:/ }).click();
    await page.getByRole("menuitemradio", { name: "gpt" }).click();
    await page.getByText("8 of 24 runs").waitFor();
  });

  test("a run's page tells its story", async () => {
    const page = await open();
    await page.getByRole("link", { name: "gentle-stoat-3" }).click();
    await page.getByRole("heading", { name: "gentle-stoat-3" }).waitFor();
    await page.getByRole("region", { name: "Metrics", exact: true }).waitFor();
    const text = () => page.locator(".run-page").textContent();
    for (const part of [
      "RuntimeError: CUDA out of memory",
      "Traceback",
      "gradients of earlier steps are still there",
      "loss above 2",
      "--note 'two words'",
      "4f2a91c7d8e0",
      "train/loss",
      "torch",
    ]) {
      await expect.poll(text).toContain(part);
    }
    await page.keyboard.press("Escape");
    await page.locator("[data-run]").first().waitFor();
  });

  test("help lists the keys, Esc closes it, and the theme is remembered", async () => {
    const page = await open();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    await page.keyboard.press("t");
    await page.keyboard.press("t");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await page.reload();
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  });

  test("a run that starts, logs and ends is followed without a reload", async () => {
    const page = await open();
    await page.locator('.live[data-state="live"]').waitFor();
    await page
      .locator("[data-run]")
      .first()
      .evaluate((row) => ((row as HTMLElement).dataset.marked = "yes"));
    await server.tell("start live-one");
    const row = page.locator("[data-run]", { hasText: "live-one" });
    await row.waitFor();
    await row.getByText("running").waitFor();
    const loss = () => row.locator('[data-column^="train/loss"]').first().textContent();
    await expect.poll(loss).toMatch(/\d/);
    await quiet(page);
    const before = await loss();
    await server.tell("log");
    await expect.poll(loss).not.toBe(before);
    await server.tell("alert <b>loss</b> is odd");
    await page.locator(".toast").getByText("<b>loss</b> is odd · live-one").waitFor();
    await server.tell("end");
    await row.getByText("finished").waitFor();
    await expect.poll(() => page.locator('[data-marked="yes"]').count()).toBe(1);
  });
});
