/** Panels of a section that share one y-range: each says what it would show, and all show the union. */

import type { Range } from "../../lib/chart-line";
import { joinRanges } from "../../lib/chart-range";
import type { PanelInfo } from "../../lib/schema";
import type { ChartScope } from "./scope";

export const isLinked = ({ settings }: ChartScope, section: string): boolean =>
  settings.linkedY.value.includes(section);

/** Tells the others what a panel would show by itself; null when it takes no part. */
export function tellFit({ fits }: ChartScope, info: PanelInfo, y: Range | null, log: boolean): void {
  const old = fits.peek().get(info.key);
  if (old === undefined ? y === null : y !== null && old.log === log && old.y[0] === y[0] && old.y[1] === y[1]) return;
  const next = new Map(fits.peek());
  if (y) next.set(info.key, { section: info.section, log, y });
  else next.delete(info.key);
  fits.value = next;
}

export function sharedRange({ fits }: ChartScope, info: PanelInfo, own: Range, log: boolean): Range {
  const ranges = [...fits.value.values()]
    .filter((fit) => fit.section === info.section && fit.log === log)
    .map((fit) => fit.y);
  return joinRanges([own, ...ranges]);
}
