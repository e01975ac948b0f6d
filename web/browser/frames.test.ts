/** Logged pages and plotly figures, opened for real, with what attackers put in them: nothing runs, nothing is asked for. */

import { createServer, type Server as Listener } from "node:http";
import type { AddressInfo } from "node:net";
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeBrowser, noBrowser, openTab, quiet, Server, type Tab } from "./harness";

const PAGES = ["base", "fetches", "frames", "links", "refresh", "scripts", "styles"];
const FIGURES = ["figure/links", "figure/pictures", "figure/maps", "figure/prototypes", "figure/sound"];
const row = (page: Page, key: string) => page.locator(`.media-key[data-key="${key}"]`);

/** Brings a frame into view and gives its inside; a browser draws nothing in frames out of sight. */
async function shown(page: Page, key: string): Promise<FrameLocator> {
  const frame = row(page, key).locator("iframe");
  await frame.waitFor({ state: "attached" });
  const inside = frame.contentFrame();
  const seen = async () => {
    await frame.evaluate((element) => element.scrollIntoView({ block: "center" }));
    return inside.locator("#here").isVisible();
  };
  await expect.poll(seen, { timeout: 45_000 }).toBe(true);
  return inside;
}

describe.skipIf(noBrowser)("hostile frames", () => {
  let server: Server;
  let tab: Tab;
  let listener: Listener;
  /** What reached the address that all of them name. */
  const reached: string[] = [];

  beforeAll(async () => {
    listener = createServer((request, answer) => {
      reached.push(request.url ?? "");
      answer.writeHead(200, { "Access-Control-Allow-Origin": "*" }).end("<script>top.document.title='PWNED'</script>");
    });
    await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
    server = await Server.start("frames", (listener.address() as AddressInfo).port);
    tab = await openTab(server, "#/media");
  });
  afterAll(async () => {
    await tab?.context.close();
    await closeBrowser();
    await server.stop();
    listener.closeAllConnections();
    listener.close();
  });

  const unharmed = async (page: Page) => {
    await expect.poll(() => page.title()).toBe("Media · Stepscope");
    await expect
      .poll(() => page.evaluate(() => ({}) as { polluted?: number }).then((one) => one.polluted))
      .toBe(undefined);
    expect(page.url().startsWith(`${server.url}/#/media`)).toBe(true);
    expect(tab.context.pages().length).toBe(1);
    expect(reached).toEqual([]);
  };

  test("the address that listens can be reached, so silence means something", async () => {
    await fetch(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/hello`);
    expect(reached.splice(0)).toEqual(["/hello"]);
  });

  test("pages are shown, run nothing, ask for nothing and lead nowhere, also when their links are clicked", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/media?mkind=html`);
    for (const key of PAGES) await shown(page, key);
    await quiet(page);
    await unharmed(page);
    const inside = await shown(page, "links");
    for (const id of ["script", "ping", "new", "top", "send"]) {
      await inside.locator(`#${id}`).click({ noWaitAfter: true });
      await quiet(page);
    }
    await inside.locator("#self").click({ noWaitAfter: true }); // the frame may leave its page, and arrives nowhere
    await quiet(page);
    await unharmed(page);
  });

  test("figures are drawn or refused, and what they carry stays in their frames", async () => {
    const { page } = tab;
    await page.goto(`${server.url}/#/media?mkind=figure`);
    for (const key of FIGURES) {
      const place = row(page, key).locator(".plotly-place");
      await place.scrollIntoViewIfNeeded();
      const ask = place.getByRole("button", { name: "Interactive" });
      await place.locator("iframe, .media-caption").or(ask).first().waitFor();
      if (await ask.isVisible()) await ask.click();
      await row(page, key).locator(".plotly-place[data-drawn], .media-caption").first().waitFor();
    }
    await row(page, "figure/sound").locator(".plotly-place[data-drawn]").waitFor();
    await quiet(page);
    await unharmed(page);
  });
});
