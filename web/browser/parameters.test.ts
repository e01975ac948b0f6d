/** The Parameters page in a real browser: brush, compare, scatter, importance, the best so far, the table. */

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, Server, still, type Tab } from "./harness";

const hashOf = (page: Page): Promise<string> =>
  page.evaluate(() => decodeURIComponent(location.hash).replace(/\+/g, " "));
const kept = (page: Page) => page.locator(".params-filters [role=status]");

async function axisX(page: Page, name: string): Promise<number> {
  const box = await page.locator(".axis-title", { hasText: name }).boundingBox();
  if (!box) throw new Error(`there is no axis ${name}`);
  return box.x + box.width / 2;
}

/** Drags along an axis, from and to as parts of the plot's height from above. */
async function brush(page: Page, name: string, from: number, to: number): Promise<void> {
  await still(page, ".params-body", ".axis-title, .parallel .layers");
  const x = await axisX(page, name);
  const box = await page.locator(".parallel .layers").boundingBox();
  if (!box) throw new Error("no plot");
  const y = (part: number) => box.y + 62 + part * (box.height - 62 - 42);
  await page.mouse.move(x, y(from));
  await page.mouse.down();
  await page.mouse.move(x, y(to), { steps: 4 });
  await page.mouse.up();
}

describe.skipIf(noBrowser)("parameters", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("parameters", 60);
    tab = await openTab(server, "#/parameters");
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
  const open = async (query: string, wait: string): Promise<Page> => {
    await tab.page.goto(`${server.url}/#/parameters?${query}`);
    await tab.page.locator(wait).first().waitFor();
    return tab.page;
  };

  test("brush the best runs, see what they share, and compare them", async () => {
    const page = await open("metric=val/accuracy", ".axis-title");
    const axes = () => page.locator(".axis-title > span").allTextContents();
    await expect.poll(async () => (await axes()).slice(-2)).toEqual(["lr", "val/accuracy.max"]); // what matters most stands beside the metric
    await expect.poll(axes).toHaveLength(9);
    await brush(page, "val/accuracy", 0, 0.25);
    await expect.poll(() => kept(page).textContent()).toMatch(/^\d+ of 60 runs$/);
    const some = Number((await kept(page).textContent())?.split(" ")[0]);
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(40);
    await expect.poll(() => hashOf(page)).toContain('"val/accuracy.max":{"ranges":[[');
    await brush(page, "optimizer", 0.36, 0.64); // adamw stands in the middle
    await expect.poll(() => page.locator(".filter-chip").allTextContents()).toHaveLength(2);
    await expect.poll(async () => (await page.locator(".filter-chip").allTextContents())[1]).toContain("adamw");
    expect(await axeFaults(page)).toEqual([]);
    await page.goBack(); // one brush is one step
    await expect.poll(() => page.locator(".filter-chip").count()).toBe(1);
    await page.getByRole("button", { name: `Compare these ${some}` }).click();
    await expect.poll(() => hashOf(page)).toMatch(/^#\/compare\?/);
    const chosen = async () =>
      new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1]).get("runs")?.split(",") ?? [];
    await expect.poll(chosen).toHaveLength(some);
    expect(tab.errors).toEqual([]);
    expect(tab.strangers).toEqual([]);
  });

  test("axes move with the keyboard, and their ranges can be typed", async () => {
    const page = await open("metric=val/accuracy&axes=config.lr,config.depth,val/accuracy.max", ".axis-title");
    const names = () => page.locator(".axis-title > span").allTextContents();
    await expect.poll(names).toEqual(["lr", "depth", "val/accuracy.max"]);
    const depth = page.locator(".axis-title", { hasText: "depth" });
    await depth.press("ArrowLeft");
    await expect.poll(names).toEqual(["depth", "lr", "val/accuracy.max"]);
    await depth.press("Enter");
    await page.getByRole("dialog", { name: "Axis depth" }).getByLabel("From").fill("8");
    await page.keyboard.press("Tab");
    await expect.poll(() => page.locator(".filter-chip").textContent()).toContain("8 to 12");
    await page.getByRole("switch", { name: "Log scale" }).first().press("Space");
    await expect.poll(() => hashOf(page)).toContain("flip=config.depth");
  });

  test("any metric can be an axis", async () => {
    const page = await open("metric=val/accuracy&axes=config.lr,val/accuracy.max", ".axis-title");
    await page.getByRole("button", { name: "Axes" }).click();
    await page.getByLabel("Find a parameter or metric").fill("epoch");
    await page.getByRole("checkbox", { name: "time/epoch_s" }).click();
    await expect
      .poll(() => page.locator(".axis-title > span").allTextContents())
      .toEqual(["lr", "time/epoch_s", "val/accuracy.max"]);
    await expect.poll(() => hashOf(page)).toContain("axes=config.lr,time/epoch_s.best,val/accuracy.max");
  });

  test("runs that diverged stand on a rail of their own, and a line opens its run", async () => {
    const page = await open("stat=last&axes=config.lr,val/loss.last", ".axis-title");
    await still(page, ".params-body", ".axis-title, .parallel .layers");
    const box = await page.locator(".parallel .layers").boundingBox();
    const x = await axisX(page, "val/loss");
    await page.mouse.click(x, (box?.y ?? 0) + (box?.height ?? 0) - 18); // the NaN rail
    await expect.poll(() => page.locator(".filter-chip").textContent()).toContain("NaN");
    await expect.poll(async () => Number((await kept(page).textContent())?.split(" ")[0])).toBeGreaterThan(0);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".filter-chip").count()).toBe(0);
    await still(page, ".params-body", ".axis-title, .parallel .layers");
    const lr = await axisX(page, "lr");
    for (let part = 0.2; part < 0.9 && (await page.locator(".run-tip").count()) === 0; part += 0.01)
      await page.mouse.move((lr + x) / 2, (box?.y ?? 0) + 62 + part * ((box?.height ?? 0) - 104));
    await expect.poll(() => page.locator(".run-tip strong").textContent()).toMatch(/^sweep-\d{4}$/);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => hashOf(page)).toMatch(/^#\/run\/[0-9A-Z]{26}/);
  });

  test("every pair of parameters, one of them large, brushed as one", async () => {
    const page = await open("pview=scatter&metric=val/accuracy&axes=config.lr,config.depth", ".scatter canvas");
    await page.getByLabel("Enlarge a pair").selectOption({ label: "val/accuracy.max over lr" });
    await page.getByRole("switch", { name: "Log lr" }).waitFor();
    await still(page, ".params-body", ".scatter .layers");
    const box = await page.locator(".scatter .layers").boundingBox();
    if (!box) throw new Error("no plot");
    await page.mouse.move(box.x + 100, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.4, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => page.locator(".filter-chip b").allTextContents()).toEqual(["lr", "val/accuracy.max"]);
    await expect.poll(async () => Number((await kept(page).textContent())?.split(" ")[0])).toBeLessThan(60);
  });

  test("importance names what was planted, with its method; the table has the same runs as CSV", async () => {
    const page = await open("pview=importance&metric=val/accuracy", ".importance-table");
    await expect.poll(() => page.locator(".importance-verdict").textContent()).toMatch(/explains \d+%.*from 60 runs/);
    await expect.poll(() => page.locator(".importance-table tbody th").first().textContent()).toBe("lr");
    await page.getByRole("button", { name: "depth" }).click();
    await expect.poll(() => page.locator(".effect h2").textContent()).toBe("val/accuracy over depth");
    await page.getByText("How this is computed").click();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("radio", { name: "Best so far" }).click();
    await page.getByText(/improved \d+ times in 60 runs/).waitFor();
    await page.getByRole("radio", { name: "Table" }).click();
    const values = () => page.locator(".param-table tbody td:nth-child(3)").allTextContents();
    await expect.poll(async () => (await values()).length).toBeGreaterThan(10);
    const falls = async () =>
      (await values())
        .slice(0, 5)
        .map(Number)
        .every((value, at, all) => value <= (all[at - 1] ?? Number.POSITIVE_INFINITY));
    await expect.poll(falls).toBe(true);
    const best = (await values()).map(Number);
    await page.getByRole("button", { name: "val/accuracy.max" }).click();
    await expect.poll(async () => Number((await values())[0])).toBeLessThan(best[4] as number);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const text = readFileSync(await saved.path(), "utf8");
    expect(text.split("\r\n")).toHaveLength(62);
    expect(text).toMatch(/^id,name,status,val\/accuracy.max,config.augment,/);
    expect(tab.errors).toEqual([]);
  });

  test("an unknown way is asked for; a wrong query is marked; nothing found is said", async () => {
    const page = await open("pview=best&metric=time/epoch_s", ".best-ask");
    await page.getByRole("button", { name: "Lower is better" }).click();
    await page.getByText(/improved \d+ times? in 60 runs/).waitFor();
    await page.getByRole("combobox", { name: "Query" }).fill("config.nothing = 3");
    await page.keyboard.press("Enter");
    await page.getByText("no run has a config value 'nothing'").waitFor();
    tab.errors.length = 0; // the refusal's status
    await page.getByRole("combobox", { name: "Query" }).fill("config.depth = 5");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No run matches" }).waitFor();
    await page.locator(".state-actions").getByRole("button", { name: "Clear the query" }).click();
    await page.locator(".best canvas").first().waitFor();
  });
});
