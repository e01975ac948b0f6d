/** How much a page jumps while it loads: the browser's own measure of layout shift. */

import type { Frame, Page, Request, Route } from "playwright-core";

declare global {
  interface Window {
    shifts: { value: number; what: string }[];
  }
}

/** To be run before the page's own scripts. */
export function watchShifts(): void {
  window.shifts = [];
  interface Shift extends PerformanceEntry {
    value: number;
    hadRecentInput: boolean;
    sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[];
  }
  const words = (node: Node | null): string =>
    node instanceof Element ? `.${node.getAttribute("class") ?? node.nodeName}` : "?";
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as Shift[]) {
      if (entry.hadRecentInput) continue;
      const what = entry.sources
        .map(
          ({ node, previousRect, currentRect }) =>
            `${words(node)} ${Math.round(previousRect.y)} to ${Math.round(currentRect.y)}`,
        )
        .join(", ");
      window.shifts.push({ value: entry.value, what });
    }
  }).observe({ type: "layout-shift", buffered: true });
}

/** The sum of all shifts since the page began, and what moved. */
export async function shiftsOf(page: Page): Promise<{ sum: number; moved: string[] }> {
  const shifts = await page.evaluate(() => window.shifts);
  return {
    sum: shifts.reduce((sum, one) => sum + one.value, 0),
    moved: shifts.filter((one) => one.value > 0.005).map((one) => `${one.value.toFixed(3)}: ${one.what}`),
  };
}

/** Who is answered next of those that wait. */
export type Order = "first asked" | "last asked";

const HELD = /\/(api\/(?!live)|assets\/)/;
const isCode = (route: Route): boolean => new URL(route.request().url()).pathname.startsWith("/assets/");

/** Until what the page has is on the screen; false where the page itself is not there yet. Nothing is drawn while its first code is on its way. */
const painted = (page: Page): Promise<boolean> =>
  page
    .evaluate(
      () =>
        new Promise<boolean>((done) => {
          const end = () => done(document.querySelector("main") !== null);
          requestAnimationFrame(() => requestAnimationFrame(end));
          setTimeout(end, document.readyState === "loading" ? 0 : 500);
        }),
    )
    .catch(() => false);

/**
 * From now on the page gets answers and code one by one, and paints what came of each before it gets the next: every state
 * that a slow server, network or machine could show for a moment is really shown, on any machine. Call the result to end it.
 */
export async function oneByOne(page: Page, order: Order): Promise<() => Promise<void>> {
  let waiting: Route[] = [];
  let ended = false;
  const left = (frame: Frame) => frame === page.mainFrame() && (waiting = []);
  const given = (up: Request) => (waiting = waiting.filter((route) => route.request() !== up));
  page.on("framenavigated", left).on("requestfailed", given);
  await page.route(HELD, (route) => void waiting.push(route));
  const release = async (): Promise<void> => {
    while (!ended) {
      const shown = await painted(page); // and whoever else is asked meanwhile joins the queue
      const ready = waiting.filter((one) => shown || isCode(one));
      const route = ready.at(order === "first asked" ? 0 : -1);
      waiting = waiting.filter((one) => one !== route);
      if (route) await answered(page, route);
      else await new Promise((done) => setTimeout(done, 20));
    }
  };
  const all = release();
  return async () => {
    ended = true;
    await all;
    page.off("framenavigated", left).off("requestfailed", given);
    await page.unroute(HELD);
    await Promise.all(waiting.map((route) => route.continue().catch(() => undefined)));
  };
}

/** Until its answer is there, or the page that asked was left. */
function answered(page: Page, route: Route): Promise<void> {
  return new Promise((done) => {
    const over = (request: Request) => request === route.request() && end();
    const left = (frame: Frame) => frame === page.mainFrame() && end();
    const end = () => {
      page.off("requestfinished", over).off("requestfailed", over).off("framenavigated", left);
      done();
    };
    page.on("requestfinished", over).on("requestfailed", over).on("framenavigated", left);
    route.continue().catch(end);
  });
}
