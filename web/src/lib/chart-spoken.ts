/** Lines and histograms in words: the rows of the tables that stand behind pictures for screen readers. */

import type { PlotLine } from "./chart-line";
import { formatNumber } from "./format";
import type { Histograms } from "./schema";

/** More rows than this nobody listens to. */
const MOST_ROWS = 20;

export const LINE_HEAD = ["Run", "First", "Least", "Greatest", "Last", "Not finite"];

/** One row per line: where it begins, how far it goes, where it ends. */
export function lineRows(lines: readonly PlotLine[], nameOf: (run: string) => string): string[][] {
  return lines.slice(0, MOST_ROWS).map((line) => {
    const finite = line.value.filter(Number.isFinite);
    const odd = line.nan.length + line.posInf.length + line.negInf.length;
    const least = line.low.reduce((least, v) => (v < least ? v : least), Number.POSITIVE_INFINITY);
    const most = line.high.reduce((most, v) => (v > most ? v : most), Number.NEGATIVE_INFINITY);
    const name = `${nameOf(line.run)}${line.rank > 0 ? `, rank ${line.rank}` : ""}${line.superseded ? ", superseded" : ""}`;
    if (finite.length === 0) return [name, "none", "none", "none", "none", String(odd)];
    return [name, finite[0] as number, least, most, finite[finite.length - 1] as number]
      .map((v) => (typeof v === "number" ? formatNumber(v) : v))
      .concat(String(odd));
  });
}

export const HISTOGRAM_HEAD = ["Step", "Least", "Median", "Greatest"];

/** One row per histogram, of many some at even distances, the newest among them. */
export function histogramRows({ steps, percentiles }: Histograms): string[][] {
  const every = Math.ceil(steps.length / MOST_ROWS);
  return steps.flatMap((step, at) => {
    const row = percentiles[at];
    if ((steps.length - 1 - at) % every !== 0 || !row) return [];
    return [
      [
        step.toLocaleString("en-US"),
        ...[row[0], row[row.length >> 1], row[row.length - 1]].map((v) => formatNumber(v ?? Number.NaN)),
      ],
    ];
  });
}
