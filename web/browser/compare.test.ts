/** The Compare page in a real browser: which run is better, what changed, what is chance. */

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, Server, type Tab } from "./harness";

const section = (page: Page, id: string) => page.locator(`#compare-${id}`);
const cell = (page: Page, metric: string, column: number) =>
  page
    .locator(".metric-grid tbody tr", { has: page.locator(`th:has-text("${metric}")`) })
    .locator("td")
    .nth(column);

async function go(page: Page, title: string): Promise<void> {
  await page.getByRole("navigation", { name: "Sections" }).getByRole("button", { name: title, exact: true }).click();
}

describe.skipIf(noBrowser)("compare", () => {
  let server: Server;
  let tab: Tab;
  const id: Record<string, string> = {};

  beforeAll(async () => {
    server = await Server.start("compare");
    tab = await openTab(server, "#/runs");
    const page = (await tab.page.evaluate(async () => {
      const asked = {
        method: "POST",
        headers: { "X-Stepscope": "1", "Content-Type": "application/json" },
        body: '{"limit": 50}',
      };
      return (await fetch("/api/runs", asked)).json();
    })) as { rows: { id: string; name: string }[] };
    for (const row of page.rows) id[row.name] = row.id;
  });
  beforeEach(async () => {
    await tab.page.goto("about:blank");
    tab.errors.length = tab.strangers.length = 0;
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server.stop();
  });

  const open = (hash: string) => tab.page.goto(`${server.url}/${hash}`);
  const pair = () => `runs=${id["wide-before"]},${id["wide-after"]}`;

  test("five runs are chosen in the table, compared with a baseline, and leave as CSV and Markdown", async () => {
    const { page } = tab;
    await open("#/runs");
    for (const name of ["baseline-s0", "baseline-s1", "mixup-s0", "mixup-s1", "cutmix-s0"])
      await page
        .getByRole("checkbox", { name: new RegExp(`\\b${name}\\b`) })
        .first()
        .check();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await go(page, "Metrics");
    await page.getByLabel("Baseline", { exact: true }).selectOption({ label: "baseline-s1" });
    await expect.poll(() => page.locator(".metric-grid thead th[data-base]").innerText()).toContain("baseline-s1");
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("base=");
    // The best accuracy is marked once, and the baseline itself has no change.
    await expect.poll(() => page.locator(".metric-grid tbody tr").first().locator("td[data-best]").count()).toBe(1);
    await expect
      .poll(() => page.locator(".metric-grid tbody tr").first().locator("td[data-base] .metric-change").innerText())
      .toBe("");
    await page.getByLabel("Find a metric").fill("val/");
    await expect.poll(() => page.locator(".metric-grid tbody tr").count()).toBe(2);
    await page.getByRole("button", { name: "Export the table" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: /CSV/ }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("comparison.csv");
    const [head, first] = readFileSync(await file.path(), "utf8").split("\r\n");
    expect(head?.split(",").slice(0, 5)).toEqual(["metric", "goal", "statistic", "baseline-s0", "baseline-s0 change"]);
    expect(first?.startsWith("val/accuracy,max,last,0.8")).toBe(true);
    await page.getByRole("button", { name: "Group runs that differ only in their seed" }).click();
    await page.getByText("corrected by Holm").waitFor();
    expect(tab.errors).toEqual([]);
  });

  test("what changed between the run that works and the one that does not stands in one view", async () => {
    const { page } = tab;
    await open(`#/compare?${pair()}`);
    const changed = section(page, "changed");
    await changed.getByText("Look first at").waitFor();
    await expect
      .poll(() => changed.locator(".changed-headline").innerText())
      .toMatch(/opt\.no-zero-grad.*The curves diverge at step 4\d\d, first in train\/grad_norm/s);
    const reasons = changed.locator(".reason-table tbody tr");
    await expect.poll(() => reasons.first().innerText()).toMatch(/Likely.*opt\.no-zero-grad.*train\.py:42/s);
    await expect.poll(() => reasons.nth(1).innerText()).toMatch(/lr.*0\.001.*0\.01.*10 times as large/s);
    await changed.getByText(/more differences? that rarely/).click();
    await changed.getByText("einops").waitFor();
    // Config marks only the words that differ; code shows the line that was taken away.
    await go(page, "Config");
    await expect.poll(() => section(page, "config").locator("mark").allInnerTexts()).toEqual(["grey", "wolf"]);
    await go(page, "Code");
    await section(page, "code").getByText("The same commit; uncommitted changes differ in 2 files.").waitFor();
    await expect
      .poll(() => section(page, "code").locator('tr[data-differs] td[data-sign="-"]').innerText())
      .toContain("optimizer.zero_grad()");
    await go(page, "Environment");
    await section(page, "environment").getByText("NVIDIA_TF32_OVERRIDE").waitFor();
    await go(page, "Media");
    await section(page, "media").locator("img").first().waitFor();
    await go(page, "Profile");
    await section(page, "profile")
      .getByText(/wide-after is .* slower/)
      .waitFor();
    // The sides can be swapped, and the link remembers it.
    await page.getByRole("button", { name: "Swap the two sides" }).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toContain(`works=${id["wide-after"]}`);
    expect(await axeFaults(page)).toEqual([]);
    expect([tab.errors, tab.strangers]).toEqual([[], []]);
  });

  test("groups are compared over their seeds, with the test behind every cell, and drawn as bands", async () => {
    const { page } = tab;
    const asked: { groups: { runs: string[] }[]; keys: string[] }[] = [];
    page.on("request", (request) => request.url().endsWith("/api/compare/lines") && asked.push(request.postDataJSON()));
    await open("#/compare?by=group&base=%5B%22baseline%22%5D");
    await go(page, "Metrics");
    await expect.poll(() => cell(page, "val/accuracy", 2).innerText()).toMatch(/± .*\+0\.0.*p 0\.0/s);
    await cell(page, "val/accuracy", 2).locator("button").click();
    const card = page.getByRole("dialog", { name: /val\/accuracy/ });
    await card.getByText("Permutation test, all 70 deals").waitFor();
    await expect.poll(() => card.innerText()).toMatch(/Unlikely to be chance.*bootstrap.*corrected by Holm/s);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
    await go(page, "Charts");
    await page.locator('.panel[data-key="val/accuracy"] .plot[aria-label*="mixup"]').waitFor();
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect(asked[0]?.groups.map((group) => group.runs.length).sort()).toEqual([2, 4, 4, 4]);
    // The same groups on the Charts page, chosen there.
    await open("#/charts");
    await page.getByRole("button", { name: "Group", exact: true }).click();
    await page.getByRole("checkbox", { name: "augment/kind" }).check();
    await page.keyboard.press("Escape");
    await page.locator('.panel .plot[aria-label*="kind mixup"]').first().waitFor();
    await expect.poll(() => page.getByRole("group", { name: "Groups" }).innerText()).toContain("kind not set");
    expect(tab.errors).toEqual([]);
  });

  test("a link to runs that are gone says so, and one run alone is no comparison", async () => {
    const { page } = tab;
    await open("#/compare?runs=01AAAAAAAAAAAAAAAAAAAAAAAA");
    await page.getByText("The selected runs are not in this store").waitFor();
    await open(`#/compare?runs=${id["mixup-s0"]}`);
    await page.getByText("Select two runs or groups").waitFor();
    await go(page, "Metrics");
    await cell(page, "val/accuracy", 0).waitFor();
    expect(tab.errors).toEqual([]);
  });
});
