/** The Charts page in a real browser, over a real store: what a person does, and what must be seen then. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  closeBrowser,
  noBrowser,
  openTab,
  picture as pictureOf,
  pressTwo,
  Server,
  steady,
  still,
  type Tab,
} from "./harness";

const panel = (page: Page, key: string) => page.locator(`.panel[data-key="${key}"]`);
const plot = (page: Page, key: string) => panel(page, key).locator(".plot");

/** What a panel's canvas shows, as a number that changes when a pixel does. */
const picture = (page: Page, key: string): Promise<number> => pictureOf(plot(page, key).locator("canvas"));

async function drawn(page: Page, key: string): Promise<void> {
  await panel(page, key).scrollIntoViewIfNeeded();
  await page.waitForFunction(
    (k) =>
      document
        .querySelector(`.panel[data-key="${CSS.escape(k)}"] .plot:not([data-loading])`)
        ?.getAttribute("aria-label")
        ?.includes("Last values"),
    key,
  );
  await steady(plot(page, key).locator("canvas"));
}

async function drag(page: Page, key: string, from: number, to: number): Promise<void> {
  await still(page, `.panel[data-key="${key}"]`);
  const box = await plot(page, key).boundingBox();
  if (!box) throw new Error(`${key} is not on the page`);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 5 });
  await page.mouse.up();
}

const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash);

describe.skipIf(noBrowser)("charts", () => {
  let server: Server;
  let tab: Tab;
  const asked: { keys: string[]; lo: number | null; x: string }[] = [];

  beforeAll(async () => {
    server = await Server.start("charts");
    tab = await openTab(server, "#/charts");
    // Layouts are kept between visits; here each test begins with the usual one.
    await tab.context.addInitScript(
      () => window === top && location.protocol.startsWith("http") && localStorage.clear(),
    );
    tab.page.on("request", (request) => {
      if (request.url().endsWith("/api/lines")) asked.push(request.postDataJSON());
    });
  });
  beforeEach(async () => {
    // The page anew, in the browser profile of the test before: a profile costs a second each time.
    await tab.page.goto("about:blank");
    asked.length = tab.errors.length = tab.strangers.length = 0;
    await tab.page.goto(`${server.url}/#/charts`);
    await drawn(tab.page, "loss");
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server.stop();
  });

  test("draw the newest runs by themselves, one panel per metric in sections by prefix", async () => {
    const { page } = tab;
    await expect.poll(() => page.locator(".run-item").count()).toBe(5);
    await expect
      .poll(() => page.locator(".section").evaluateAll((all) => all.map((s) => s.getAttribute("aria-label"))))
      .toEqual(["Metrics", "val", "test", "train", "samples", "eval", "Media", "weights", "system"]);
    await expect.poll(() => page.locator('[data-section="system"] .panel').count()).toBe(0);
  });

  test("a drag zooms all panels with the same x-axis, asks for finer lines, and a double click shows all again", async () => {
    const { page } = tab;
    await drawn(page, "lr");
    const before = [await picture(page, "loss"), await picture(page, "lr")];
    await drag(page, "loss", 0.4, 0.6);
    await page.getByRole("button", { name: "Reset zoom" }).waitFor();
    await expect.poll(() => hashOf(page)).toMatch(/zoom=[\d.]+:[\d.]+/);
    await expect.poll(async () => [await picture(page, "loss"), await picture(page, "lr")]).not.toEqual(before);
    await expect.poll(() => asked.some((r) => r.lo !== null)).toBe(true);
    expect(asked.filter((r) => r.lo !== null).some((r) => r.keys.length > 1)).toBe(true);
    await still(page, '.panel[data-key="lr"]');
    await plot(page, "lr").dblclick();
    await expect.poll(() => hashOf(page)).not.toContain("zoom=");
  });

  test("smoothing changes the line, and the raw one stays behind it", async () => {
    const { page } = tab;
    const raw = await picture(page, "loss");
    await page.getByRole("combobox", { name: "Smoothing" }).selectOption("ema");
    await expect.poll(() => picture(page, "loss")).not.toBe(raw);
    await expect.poll(() => hashOf(page)).toContain("smooth=ema:0.6");
  });

  test("hovering shows every run's value, sorted, and moves the crosshair of the others", async () => {
    const { page } = tab;
    await drawn(page, "lr");
    await still(page, '.panel[data-key="lr"]');
    const box = await plot(page, "lr").boundingBox();
    await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 60, { steps: 3 });
    const values = () => page.locator(".chart-tip .tip-value").allTextContents();
    await expect.poll(values).toHaveLength(5);
    const shown = (await values()).map(Number);
    expect(shown).toEqual([...shown].sort((a, b) => b - a));
    await expect.poll(() => page.locator(".chart-tip tr[data-nearest]").count()).toBe(1);
    await page.mouse.down();
    await page.mouse.up();
    await page.mouse.move(5, 5);
    await expect.poll(() => page.locator(".chart-tip[data-held]").count()).toBe(1);
    const crossed = () =>
      plot(page, "loss")
        .locator(".plot-overlay")
        .evaluate((c: HTMLCanvasElement) =>
          c
            .getContext("2d")
            ?.getImageData(0, 0, c.width, c.height)
            .data.some((v) => v > 0),
        );
    await expect.poll(crossed).toBe(true);
  });

  test("NaN and Inf are marked and said in words", async () => {
    const { page } = tab;
    const words = () => panel(page, "loss").locator(".panel-marks").textContent();
    await expect.poll(words).toContain("+Inf at step 2,000");
    await expect.poll(words).toContain("NaN at step 2,400");
  });

  test("charts of a section share one y-range when asked, and the address remembers", async () => {
    const { page } = tab;
    await drawn(page, "train/kl");
    await drawn(page, "train/accuracy");
    const before = await picture(page, "train/accuracy");
    await page.getByRole("button", { name: "One y-range for all charts of train" }).click();
    await expect.poll(() => picture(page, "train/accuracy")).not.toBe(before);
    await page.waitForFunction(() => location.hash.includes("samey=train"));
  });

  test("logged HTML stands in a frame where nothing runs", async () => {
    const { page, strangers } = tab;
    await panel(page, "eval/page").scrollIntoViewIfNeeded();
    const frame = panel(page, "eval/page").frameLocator("iframe");
    await frame.getByText("Class report").waitFor();
    await expect.poll(() => frame.locator("h1").evaluate((h) => getComputedStyle(h).color)).toBe("rgb(0, 128, 0)");
    await expect.poll(() => frame.locator("#ran").textContent()).toBe("no");
    await expect.poll(() => page.locator("iframe").getAttribute("sandbox")).toBe("");
    await expect.poll(() => page.title()).toBe("Charts · Stepscope");
    expect(strangers).toEqual([]);
  });

  test("a single point is drawn as a dot", async () => {
    const { page } = tab;
    await drawn(page, "test/accuracy");
    await still(page, '.panel[data-key="test/accuracy"]');
    const box = await plot(page, "test/accuracy").boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 60, { steps: 3 });
    await page.locator(".chart-tip").waitFor();
    await expect.poll(() => page.locator(".chart-tip .tip-value").count()).toBe(5);
  });

  test("the whole layout is in the address, and a link shows the same", async () => {
    const { page } = tab;
    await page.getByRole("combobox", { name: "X-axis" }).selectOption("epoch");
    await page.getByRole("button", { name: "Log y" }).click();
    await page.getByRole("textbox", { name: "Find panels" }).fill("loss");
    await panel(page, "val/loss").hover();
    await panel(page, "val/loss").getByRole("button", { name: "Pin to the top (p)" }).click();
    await page.locator(".run-item", { hasText: "diverges" }).getByRole("button", { name: "Hide diverges" }).click();
    await page.locator(".run-item[data-off]").waitFor();
    // The address follows after a short rest; each part of the layout is in it then.
    for (const part of [/x=epoch/, /logy=/, /find=loss/, /pins=/, /hide=/])
      await expect.poll(() => hashOf(page)).toMatch(part);
    const link = await page.evaluate(() => location.href);
    const other = await tab.context.newPage();
    await other.goto(link);
    await expect
      .poll(() => other.locator(".section").evaluateAll((all) => all.map((s) => s.getAttribute("aria-label"))))
      .toEqual(["Pinned", "Metrics"]);
    await expect.poll(() => other.getByRole("combobox", { name: "X-axis" }).inputValue()).toBe("epoch");
    await expect.poll(() => other.getByRole("button", { name: "Log y" }).getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => other.locator(".run-item[data-off]").count()).toBe(1);
    await other.close();
  });

  test("the tools of a run are built when the keyboard comes to it", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/charts`);
    const eye = page.locator(".run-item .run-eye").first();
    await eye.focus();
    await page.locator(".run-tools").waitFor();
    expect(await page.locator(".run-tools").count()).toBe(1);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toMatch(/^Pin/);
  });

  test("search takes words and patterns, and shows a bad pattern instead of breaking", async () => {
    const { page } = tab;
    const box = page.getByRole("textbox", { name: "Find panels" });
    await page.getByRole("button", { name: "Regular expression" }).click();
    await box.fill("^(train|val)/acc");
    await page.waitForFunction(() => document.querySelectorAll(".panel").length === 2);
    await box.fill("(a+)+$(");
    await page.locator(".find-error").waitFor();
    await box.fill("nothing like this");
    await page.getByText("No panel matches the search").waitFor();
  });

  test("images step through time, show every run, and open large", async () => {
    const { page } = tab;
    const images = panel(page, "samples/reconstruction");
    await images.scrollIntoViewIfNeeded();
    await images.locator("img").first().waitFor();
    await expect.poll(() => images.locator("img").count()).toBe(5);
    const newest = await images.locator("img").first().getAttribute("src");
    await images.getByRole("slider", { name: "Step" }).fill("2");
    await page.waitForFunction(
      (old) => document.querySelector('.panel[data-key="samples/reconstruction"] img')?.getAttribute("src") !== old,
      newest,
    );
    await expect.poll(() => images.locator(".media-steps output").textContent()).toBe("600");
    await page.waitForFunction(() => /panels=[^&]*600/.test(location.hash));
    await still(page, '.panel[data-key="samples/reconstruction"]');
    await images.locator(".picture").first().click();
    await expect
      .poll(() => page.locator("dialog img").evaluate((img: HTMLImageElement) => img.naturalWidth))
      .toBeGreaterThan(28);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    const list = panel(page, "samples/list");
    await list.getByRole("button", { name: "Next in the list" }).click();
    await list.getByText("2 / 3").waitFor();
  });

  test("histograms, tables, curves, matrices, embeddings and figures are all drawn", async () => {
    const { page } = tab;
    for (const key of ["weights/encoder", "eval/roc", "eval/confusion", "eval/classes", "latent"]) {
      await panel(page, key).scrollIntoViewIfNeeded();
      await panel(page, key).locator("canvas").first().waitFor();
      const inked = `.panel[data-key="${key}"] canvas`;
      await page.waitForFunction((at) => {
        const canvas = document.querySelector<HTMLCanvasElement>(at);
        return canvas
          ?.getContext("2d")
          ?.getImageData(0, 0, canvas.width, canvas.height)
          .data.some((v) => v > 0);
      }, inked);
    }
    await panel(page, "eval/errors").scrollIntoViewIfNeeded();
    await panel(page, "eval/errors").getByRole("button", { name: "sure" }).first().click();
    await expect.poll(() => panel(page, "eval/errors").locator('th[aria-sort="ascending"]').count()).toBe(1);
  });

  test("Markdown is shown, nothing in it runs, links are tame, and no image is fetched", async () => {
    const { page, strangers, errors } = tab;
    const report = panel(page, "eval/report");
    await report.scrollIntoViewIfNeeded();
    await report.locator(".markdown h3").first().waitFor();
    await expect
      .poll(() =>
        report.locator("a").evaluateAll((all) => all.map((a) => [a.getAttribute("href"), a.getAttribute("rel")])),
      )
      .toEqual([["https://example.org/paper", "noopener noreferrer nofollow"]]);
    await expect.poll(() => page.title()).toBe("Charts · Stepscope");
    await expect.poll(() => report.locator("img, script").count()).toBe(0);
    const own = errors.filter((error) => !/frame is sandboxed|"img-src data:"/.test(error)); // of the logged page beside it
    expect([strangers, own]).toEqual([[], []]);
  });

  test("a run that goes on grows on the page by itself", async () => {
    const { page } = tab;
    await server.tell("start live one");
    await page.locator(".run-item", { hasText: "live one" }).waitFor();
    await drawn(page, "train/loss");
    const before = await plot(page, "train/loss").getAttribute("aria-label");
    await server.tell("log");
    await expect.poll(() => plot(page, "train/loss").getAttribute("aria-label")).not.toBe(before);
    await server.tell("end");
  });

  test("a hidden tab asks for nothing, and catches up when it is looked at", async () => {
    const { page } = tab;
    await server.tell("start live two");
    await page.locator(".run-item", { hasText: "live two" }).waitFor();
    await drawn(page, "train/loss");
    const label = () => plot(page, "train/loss").getAttribute("aria-label");
    const hide = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    await page.waitForTimeout(6000); // what was asked for before is answered
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const before = await label();
    await server.tell("log");
    await page.waitForTimeout(1500);
    expect(asked.filter((path) => path === "/api/panels" || path === "/api/lines")).toEqual([]);
    await hide(false);
    await expect.poll(label).not.toBe(before);
    await server.tell("end");
  });

  test("the keyboard pans, zooms, enlarges and closes", async () => {
    const { page } = tab;
    await panel(page, "loss").focus();
    await page.keyboard.press("+");
    await page.waitForFunction(() => location.hash.includes("zoom="));
    await page.keyboard.press("0");
    await page.waitForFunction(() => !location.hash.includes("zoom="));
    await expect.poll(() => panel(page, "loss").evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("f");
    await page.locator(".enlarged .panel").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".enlarged").waitFor({ state: "detached" });
  });

  test("a panel is saved as PNG, SVG and CSV", async () => {
    const { page } = tab;
    for (const [item, ending] of [
      ["Download PNG", ".png"],
      ["Download SVG", ".svg"],
      ["Download CSV", ".csv"],
    ] as const) {
      await panel(page, "loss").hover();
      await panel(page, "loss").getByRole("button", { name: "Panel menu" }).click();
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: item }).click(),
      ]);
      expect(saved.suggestedFilename()).toBe(`loss${ending}`);
      await page.getByRole("menuitem", { name: item }).waitFor({ state: "detached" });
    }
  });

  test("only what is on the screen is fetched, in one request for all of it", async () => {
    const { page } = tab;
    const fresh = await openTab(server, "#/charts?size=l&wide=1");
    const keys: string[][] = [];
    fresh.page.on(
      "request",
      (request) => request.url().endsWith("/api/lines") && keys.push(request.postDataJSON().keys),
    );
    await fresh.page.reload();
    await drawn(fresh.page, "loss");
    expect(keys[0]).toEqual(expect.arrayContaining(["loss", "grad_norm"]));
    expect(keys.flat()).not.toContain("train/kl");
    // What was asked for before the app was there is what the app asks: nothing of it was in vain.
    expect(
      await fresh.page.evaluate(() =>
        Object.keys((window as { stepscopeEarly?: object }).stepscopeEarly ?? { nothing: 0 }),
      ),
    ).toEqual([]);
    await fresh.context.close();
    await expect.poll(() => page.title()).toContain("Charts");
  });

  test("leaving the page and coming back leaves no canvas behind", async () => {
    const { page } = tab;
    for (let i = 0; i < 3; i++) {
      await pressTwo(page, "g", "r");
      await page.waitForFunction(() => location.hash.startsWith("#/runs"));
      await expect.poll(() => page.locator("canvas.plot-overlay, canvas.plot-picture").count()).toBe(0);
      await pressTwo(page, "g", "c");
      await drawn(page, "loss");
    }
  });

  test("a server that goes away is said in the panels, and the page stays (last: it kills the server)", async () => {
    const { page } = tab;
    server.kill();
    await page.getByRole("combobox", { name: "Smoothing" }).selectOption("mean");
    await page.locator(".panel-cover[role=alert]").first().waitFor();
    await expect.poll(() => page.locator(".panel").count()).toBeGreaterThan(10);
  });
});
