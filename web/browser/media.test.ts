/** The Media page in a real browser: one slider for all runs, pictures looked at closely, and everything else runs log. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { axeFaults } from "./axe";
import { closeBrowser, noBrowser, openTab, quiet, Server, steady, still, typeInto, type Tab } from "./harness";

const row = (page: Page, key: string) => page.locator(`.media-key[data-key="${key}"]`);
const images = (page: Page, key: string) => row(page, key).locator("img");
const sources = (page: Page, key: string): Promise<(string | null)[]> =>
  images(page, key).evaluateAll((all) => all.map((img) => img.getAttribute("src")));
const painted = (page: Page, selector: string): Promise<number> =>
  page
    .locator(selector)
    .first()
    .evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const data = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
      let sum = 0;
      for (let at = 0; at < data.length; at += 4)
        sum += (data[at] as number) + 3 * (data[at + 1] as number) + 7 * (data[at + 2] as number);
      return sum;
    });

describe.skipIf(noBrowser)("media", () => {
  let server: Server;
  let tab: Tab;

  beforeAll(async () => {
    server = await Server.start("media");
    tab = await openTab(server, "#/media");
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

  const open = async (hash: string): Promise<Page> => {
    await tab.page.goto(`${server.url}/${hash}`);
    await tab.page.locator(".media-key").first().waitFor();
    return tab.page;
  };

  test("one slider moves the pictures of all runs, each to its newest at or before the step", async () => {
    const page = await open("#/media");
    await expect.poll(() => images(page, "val/reconstruction").count()).toBe(3);
    expect(await axeFaults(page)).toEqual([]);
    await expect
      .poll(() => page.locator(".media-head").allInnerTexts())
      .toEqual(["no skip", "baseline", "wide decoder"]);
    await quiet(page);
    const last = await sources(page, "val/reconstruction");
    await page.locator(".media-scroll").focus();
    await page.keyboard.press("Home");
    await expect.poll(() => page.locator(".step-value b").innerText()).toBe("0");
    await expect
      .poll(async () => (await sources(page, "val/reconstruction")).some((src) => last.includes(src)))
      .toBe(false);
    // One step on, the run that logs half as often stays where it was, and says so.
    const first = await sources(page, "val/reconstruction");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => row(page, "val/reconstruction").locator(".media-step").allInnerTexts()).toEqual(["step 0"]);
    await expect
      .poll(async () => (await sources(page, "val/reconstruction")).map((src, at) => src === first[at]))
      .toEqual([false, true, false]);
    await expect.poll(() => page.locator(".step-value b").innerText()).toBe("250");
    // What is shown is in the address.
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("mstep=250");
    await page.reload();
    await expect.poll(() => page.locator(".step-value b").innerText()).toBe("250");
    await page.getByRole("button", { name: /Newest step/ }).click();
    await expect.poll(async () => sources(page, "val/reconstruction")).toEqual(last);
    expect(tab.errors).toEqual([]);
    expect(tab.strangers).toEqual([]);
  });

  test("keys are found by name and kind; adjusted pictures are painted anew", async () => {
    const page = await open("#/media");
    await typeInto(page, "/", page.getByLabel("Find media"), "attention");
    await expect.poll(() => page.locator(".media-key").count()).toBe(1);
    await page.getByRole("button", { name: "Adjust pictures" }).click();
    await page.getByLabel("Colors", { exact: true }).selectOption("viridis");
    await expect.poll(() => row(page, "val/attention").locator("canvas").count()).toBe(3);
    await expect.poll(() => painted(page, '[data-key="val/attention"] canvas')).toBeGreaterThan(0);
    await steady(page.locator('[data-key="val/attention"] canvas'));
    const plain = await painted(page, '[data-key="val/attention"] canvas');
    await page.getByLabel("Contrast", { exact: true }).selectOption("equalise");
    await expect.poll(() => painted(page, '[data-key="val/attention"] canvas')).not.toBe(plain);
    await page.keyboard.press("Escape");
    await page.getByLabel("Find media").fill("");
    await page.getByRole("radio", { name: /^Text/ }).click();
    await expect
      .poll(() => page.locator(".media-key").evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.kind)))
      .toEqual(["text", "text"]);
    expect(tab.errors).toEqual([]);
  });

  test("pictures are looked at closely: zoomed together, pixels read in all runs, wiped and subtracted", async () => {
    const page = await open("#/media?mkind=image");
    await row(page, "val/reconstruction").getByRole("button").first().click();
    const box = page.getByRole("dialog");
    await expect.poll(() => box.locator(".look-pane").count()).toBe(3);
    await expect
      .poll(() => box.locator(".look-line .quiet").allInnerTexts())
      .toEqual(["202 × 102", "202 × 102", "202 × 102"]);
    await still(page, "dialog", ".look-pane");
    const pane = (await box.locator(".look-pane").nth(1).boundingBox()) as {
      x: number;
      y: number;
      width: number;
      height: number;
    };
    // The picture fills the pane's width, so a pixel of it is this wide; the pointer stands in the middle of one.
    const unit = pane.width / 202;
    await page.mouse.move(pane.x + 60.5 * unit, pane.y + pane.height / 2 + (20.5 - 51) * unit);
    await expect.poll(() => box.locator(".look-at").allInnerTexts()).toEqual(["x 60 y 20", "x 60 y 20", "x 60 y 20"]);
    await expect
      .poll(async () => (await box.locator(".look-value").allInnerTexts()).every((words) => /^(RGB )?\d+/.test(words)))
      .toBe(true);
    await page.mouse.wheel(0, -600);
    await expect.poll(() => box.locator(".look-zoom").innerText()).toMatch(/^5\.6/);
    await page.keyboard.press("0");
    await expect.poll(() => box.locator(".look-zoom").innerText()).toBe("fit");
    expect(await axeFaults(page, { include: "dialog" })).toEqual([]);
    await box.getByRole("radio", { name: "Wipe" }).click();
    const line = box.getByRole("slider", { name: "Divider between the two images" });
    await line.press("ArrowRight");
    await expect.poll(() => line.getAttribute("aria-valuenow")).toBe("52");
    await box.getByRole("radio", { name: "Difference" }).click();
    await expect.poll(() => box.locator(".look-stats").innerText()).toMatch(/^mean \d.* greatest \d+ of 255/);
    // Two steps of one run: the same step twice has no difference.
    await box.getByLabel("Compare", { exact: true }).selectOption("steps");
    await box.getByLabel("The other step").selectOption("3000");
    await expect.poll(() => box.locator(".look-stats").innerText()).toContain("greatest 0 of 255");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    expect(tab.errors).toEqual([]);
  });

  test("tables, texts, matrices and curves answer questions about the runs", async () => {
    const page = await open("#/media?mkind=table");
    const table = page.getByRole("table", { name: "eval/predictions" });
    await expect.poll(() => table.getAttribute("aria-rowcount")).toBe("1201");
    await expect.poll(() => table.getByRole("row").count()).toBeLessThan(60);
    await page.getByLabel("Search the table").fill("true=lake right=false score>0.5");
    await expect.poll(async () => Number(await table.getAttribute("aria-rowcount"))).toBeLessThan(60);
    await table.getByRole("button", { name: "score" }).click();
    const scores = () =>
      table
        .locator(".grid-room .grid-row")
        .evaluateAll((all) => all.slice(0, 5).map((one) => Number(one.children[4]?.textContent)));
    await expect
      .poll(async () => (await scores()).every((score, at, all) => score > 0.5 && score >= (all[at - 1] ?? 0)))
      .toBe(true);
    expect(await scores()).toHaveLength(5);

    await open("#/media?mkind=text&mstep=0");
    const texts = row(page, "val/note");
    await texts.getByLabel("Text", { exact: true }).selectOption("runs");
    await expect.poll(() => texts.locator(".text-diff [data-kind=new] mark").count()).toBeGreaterThan(0);
    await expect.poll(() => page.title()).not.toContain("PWNED");

    await open("#/media?mkind=confusion");
    await expect.poll(() => page.locator(".matrix-column header").allInnerTexts()).toHaveLength(3);
    await page.getByLabel("Compare", { exact: true }).selectOption({ label: "Change against no skip" });
    await still(page, ".media-key", ".matrix-place");
    const place = (await page.locator(".matrix-place").nth(2).boundingBox()) as { x: number; y: number };
    await page.mouse.move(place.x + 80, place.y + 20);
    await expect
      .poll(() => page.locator(".matrix-words").nth(2).innerText())
      .toMatch(/^cloud right: \d+, was \d+; precision/);

    await open("#/media?mkind=curve");
    const cells = row(page, "eval/roc").locator("tbody td[data-number]");
    await expect.poll(() => cells.count()).toBe(3);
    await expect
      .poll(async () =>
        (await cells.allInnerTexts()).map(Number).every((area, at, all) => area > 0 && area <= (all[at - 1] ?? 1)),
      )
      .toBe(true);
    expect(tab.errors).toEqual([]);
  });

  test("an embedding is projected by the server, searched, and asked for neighbours", async () => {
    const page = await open("#/media?mkind=embedding");
    const cloud = page.getByRole("application");
    await expect.poll(() => cloud.getAttribute("aria-label")).toMatch(/^480 points/);
    await page.getByRole("radio", { name: "2D" }).click();
    await page.getByLabel("Method").selectOption("tsne");
    await expect.poll(() => page.locator(".projector-note").innerText()).toMatch(/^t-SNE, exact, perplexity 30/);
    await expect.poll(() => cloud.getAttribute("aria-busy")).toBe("false");
    await page.getByLabel("Find points").fill("lake");
    await expect.poll(() => page.locator(".together-bar .quiet").last().innerText()).toBe("60 found");
    await page.getByLabel("Find points").fill("");
    await still(page, ".media-key", "[role=application]");
    const around = (await cloud.boundingBox()) as { x: number; y: number; width: number; height: number };
    for (let at = 0; at < 60 && (await page.locator(".near-list li").count()) === 0; at++) {
      await page.mouse.click(
        around.x + around.width * (0.3 + 0.4 * ((at * 0.618) % 1)),
        around.y + around.height * (0.2 + (0.6 * at) / 60),
      );
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    }
    await expect.poll(() => page.locator(".near-list li").count()).toBe(10);
    await page.getByLabel("Color by").selectOption("loss");
    await expect.poll(() => page.locator(".scale-bar").count()).toBe(1);
    expect(await axeFaults(page)).toEqual([]);
    expect(tab.errors).toEqual([]);
  });

  test("plotly draws in a frame without reach; clips are scrubbed together; sounds are waves", async () => {
    const page = await open("#/media?mkind=figure");
    await expect
      .poll(() => row(page, "eval/landscape").locator(".plotly-place[data-drawn]").count())
      .toBeGreaterThan(0);
    const inside = page.frames().find((frame) => frame.url().includes("/frames/figure.html"));
    await expect.poll(async () => (await inside?.locator(".contour").count()) ?? 0).toBeGreaterThan(0);
    const reach = await inside?.evaluate(async () => {
      const said: string[] = [];
      try {
        said.push(String(parent.document.title));
      } catch {
        said.push("no parent");
      }
      try {
        said.push(document.cookie || "empty");
      } catch {
        said.push("no cookie");
      }
      return [
        ...said,
        await fetch("/api/info").then(
          () => "fetched",
          () => "no network",
        ),
        self.origin,
      ];
    });
    expect(reach).toEqual(["no parent", "no cookie", "no network", "null"]);

    await open("#/media?mkind=video");
    await expect.poll(() => page.locator("canvas.clip").count()).toBe(3);
    tab.errors.length = 0; // the policy's words about the fetch above
    await expect.poll(() => painted(page, "canvas.clip")).toBeGreaterThan(0);
    await steady(page.locator("canvas.clip"));
    const first = await painted(page, "canvas.clip");
    await page.getByLabel("Position in the clips").fill("0.5");
    await expect.poll(() => page.locator(".clip-bar .quiet").innerText()).toContain("frame 11 of 20");
    await expect.poll(() => painted(page, "canvas.clip")).not.toBe(first);

    await open("#/media?mkind=audio");
    await expect
      .poll(() => page.locator(".sound-time").allInnerTexts())
      .toEqual(["0:00.0 / 0:02.0", "0:00.0 / 0:02.0", "0:00.0 / 0:02.0"]);
    await expect.poll(() => painted(page, ".sound canvas")).toBeGreaterThan(0);
    expect(await axeFaults(page)).toEqual([]);
    expect(tab.errors).toEqual([]);
    expect(tab.strangers).toEqual([]);
  });

  test("media that are not what they claim are said to be broken, and do nothing", async () => {
    const hostile = await Server.start("media_hostile");
    const { page, strangers, context } = await openTab(hostile, "#/media");
    try {
      const broken = async (key: string) => {
        await row(page, key).scrollIntoViewIfNeeded();
        return (await row(page, key).locator(".media-broken").allInnerTexts()).join();
      };
      await expect.poll(() => images(page, "good").count()).toBe(1);
      await expect.poll(() => broken("svg")).toContain("damaged, or not the image/png");
      await expect.poll(() => broken("bomb")).toContain("90,000 x 90,000 pixels");
      await expect.poll(() => broken("svg inline")).toContain("damaged, or not the image/svg+xml");
      await expect.poll(() => broken("cut")).toContain("damaged");
      for (const kind of ["HTML", "Audio", "Videos", "Tables", "Confusion", "Curves", "Text"]) {
        await page.getByRole("radio", { name: new RegExp(`^${kind}`) }).click();
        await page.locator(".media-key > :not(.media-title, .media-hold)").first().waitFor();
      }
      await page.getByRole("radio", { name: /^Figures/ }).click();
      await page.locator(".plotly-place[data-drawn]").waitFor();
      await page.getByRole("radio", { name: /^Embeddings/ }).click();
      await expect.poll(() => page.locator(".media-fault").innerText()).toContain("is truncated");
      await expect.poll(() => page.title()).not.toContain("PWNED");
      await expect.poll(() => page.locator("main img[src=x]").count()).toBe(0);
      expect(strangers).toEqual([]);
    } finally {
      await context.close();
      await hostile.stop();
    }
  });
});
