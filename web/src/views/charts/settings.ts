/** The Charts page's layout as signals that live in the address: a link shows the same thing. */

import { panelOptionsCodec, smoothCodec, NO_SMOOTHING, zoomCodec, type AllPanelOptions } from "../../lib/chart-settings";
import { withZoom, type Zooms } from "../../lib/chart-zoom";
import type { Range } from "../../lib/chart-line";
import type { Clip } from "../../lib/chart-range";
import { flag, list, number, oneOf, text } from "../../lib/url";
import { param } from "../../router";

export const xAxis = param("x", "step", text);
export const smoothing = param("smooth", NO_SMOOTHING, smoothCodec);
export const logX = param("logx", false, flag);
export const logY = param("logy", false, flag);
export const band = param("band", true, flag);
export const clip = param<Clip>("clip", "extreme", oneOf("never", "extreme", "always"));
export const superseded = param("old", false, flag);
export const ranks = param("ranks", false, flag);
/** Panels in a row; 0 for as many as fit. */
export const columns = param("wide", 0, number);
export const size = param<"s" | "m" | "l">("size", "m", oneOf("s", "m", "l"));
export const find = param("find", "", text);
export const regex = param("re", false, flag);
export const zooms = param<Zooms>("zoom", {}, zoomCodec);
/** Sections that are not as they would be by themselves: closed ones opened, open ones closed. */
export const flipped = param<string[]>("sections", [], list);
/** Sections whose panels share one y-range. */
export const linkedY = param<string[]>("samey", [], list);
export const pins = param<string[]>("pins", [], list);
export const panelOptions = param<AllPanelOptions>("panels", {}, panelOptionsCodec);
/** The panel shown large, or "". */
export const enlarged = param("full", "", text);
/** The run drawn stronger and listed first, or "". */
export const pinnedRun = param("pinrun", "", text);

export const HEIGHTS = { s: 180, m: 240, l: 340 } as const;
export const WIDTHS = { s: 300, m: 380, l: 560 } as const;

export function setZoom(x: string, range: Range | null): void {
  zooms.value = withZoom(zooms.peek(), x, range);
}

/** Puts an item into a list signal, or takes it out. */
export function toggled(items: readonly string[], item: string): string[] {
  return items.includes(item) ? items.filter((other) => other !== item) : [...items, item];
}
