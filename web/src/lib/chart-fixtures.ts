/** A line for tests, from the few columns that matter in one. */

import { type PlotLine, plotLine } from "./chart-line";
import type { Line } from "./schema";

export function rawLine(value: (number | null)[], more: Partial<Line> = {}): Line {
  return {
    run: "a",
    key: "loss",
    rank: 0,
    x: value.map((_, i) => i),
    value,
    low: value,
    high: value,
    smooth: null,
    nan: [],
    inf: [],
    points: value.length,
    superseded: false,
    last: value.at(-1) ?? null,
    version: 0,
    nan_x: more.nan ?? [],
    inf_x: (more.inf ?? []).map((i) => (i < 0 ? -i - 1 : i)),
    ...more,
  };
}

export const lineOf = (value: (number | null)[], more: Partial<Line> = {}): PlotLine => plotLine(rawLine(value, more));
