/** How charts are drawn, as signals. The Charts page keeps them in the address, so that a link shows the same thing. */

import { signal, type Signal } from "@preact/signals";
import {
  panelOptionsCodec,
  smoothCodec,
  NO_SMOOTHING,
  zoomCodec,
  type AllPanelOptions,
} from "../../lib/chart-settings";
import { withZoom, type Zooms } from "../../lib/chart-zoom";
import type { Range } from "../../lib/chart-line";
import type { Clip } from "../../lib/chart-range";
import { type Codec, flag, list, number, oneOf, text } from "../../lib/url";
import { param } from "../../router";

/** From the least to the greatest run of a group, one standard deviation, or one standard error of the mean. */
export type Spread = "range" | "std" | "sem";

/** Where one setting lives: `param` for the address, or a plain signal. */
type Keep = <T>(name: string, fallback: T, codec: Codec<T>) => Signal<T>;

function make(keep: Keep) {
  return {
    xAxis: keep("x", "step", text),
    smoothing: keep("smooth", NO_SMOOTHING, smoothCodec),
    logX: keep("logx", false, flag),
    logY: keep("logy", false, flag),
    band: keep("band", true, flag),
    clip: keep<Clip>("clip", "extreme", oneOf("never", "extreme", "always")),
    superseded: keep("old", false, flag),
    ranks: keep("ranks", false, flag),
    /** Panels in a row; 0 for as many as fit. */
    columns: keep("wide", 0, number),
    size: keep<"s" | "m" | "l">("size", "m", oneOf("s", "m", "l")),
    find: keep("find", "", text),
    regex: keep("re", false, flag),
    zooms: keep<Zooms>("zoom", {}, zoomCodec),
    /** Sections that are not as they would be by themselves: closed ones opened, open ones closed. */
    flipped: keep<string[]>("sections", [], list),
    /** Sections whose panels share one y-range. */
    linkedY: keep<string[]>("samey", [], list),
    pins: keep<string[]>("pins", [], list),
    panelOptions: keep<AllPanelOptions>("panels", {}, panelOptionsCodec),
    /** The panel shown large, or "". */
    enlarged: keep("full", "", text),
    /** Keys whose values make groups: each is drawn as the mean of its runs with a band. Empty: every run by itself. */
    by: keep<string[]>("by", [], list),
    /** What the band of a group is. */
    spread: keep<Spread>("spread", "range", oneOf("range", "std", "sem")),
    /** A step that is marked with an upright line, or "". */
    mark: keep("mark", "", text),
    /** The run drawn stronger and listed first, or "". */
    pinnedRun: keep("pinrun", "", text),
  };
}

export type ChartSettings = ReturnType<typeof make>;

/** The settings in the address. */
export const addressSettings: ChartSettings = make(param);

/** Settings of one board or panel alone; `start` is written as the address would write it: `{ smooth: "ema:0.6" }`. */
export function ownSettings(start: Readonly<Record<string, string>> = {}): ChartSettings {
  return make((name, fallback, codec) => {
    const given = start[name];
    return signal(given === undefined ? fallback : (codec.read(given) ?? fallback));
  });
}

export const HEIGHTS = { s: 180, m: 240, l: 340 } as const;
export const WIDTHS = { s: 300, m: 380, l: 560 } as const;

export function setZoom(settings: ChartSettings, x: string, range: Range | null): void {
  settings.zooms.value = withZoom(settings.zooms.peek(), x, range);
}

/** Puts an item into a list signal, or takes it out. */
export function toggled(items: readonly string[], item: string): string[] {
  return items.includes(item) ? items.filter((other) => other !== item) : [...items, item];
}
