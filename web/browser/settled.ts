/** How much a page jumps while it loads: the browser's own measure of layout shift. */

import type { Page } from "playwright-core";

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
  const words = (node: Node | null): string => (node instanceof Element ? `.${node.getAttribute("class") ?? node.nodeName}` : "?");
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as Shift[]) {
      if (entry.hadRecentInput) continue;
      const what = entry.sources.map(({ node, previousRect, currentRect }) => `${words(node)} ${Math.round(previousRect.y)} to ${Math.round(currentRect.y)}`).join(", ");
      window.shifts.push({ value: entry.value, what });
    }
  }).observe({ type: "layout-shift", buffered: true });
}

/** The sum of all shifts since the page began, and what moved. */
export async function shiftsOf(page: Page): Promise<{ sum: number; moved: string[] }> {
  const shifts = await page.evaluate(() => window.shifts);
  return { sum: shifts.reduce((sum, one) => sum + one.value, 0), moved: shifts.filter((one) => one.value > 0.005).map((one) => `${one.value.toFixed(3)}: ${one.what}`) };
}
