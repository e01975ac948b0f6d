/** A measure over ranks and steps: how it is scaled, what stands under the pointer, and how it is said. */

import { count, formatBytes, formatNumber } from "./format";
import type { HeatRow, Ranks } from "./schema";

/** The values that the ends of the color scale stand for. A few far ones do not wash out the rest. */
export function heatRange(rows: readonly HeatRow[]): readonly [number, number] {
  const values = rows
    .flatMap((row) => row.values)
    .filter((value): value is number => value !== null)
    .sort((a, b) => a - b);
  const at = (part: number): number => values[Math.round(part * (values.length - 1))] ?? 0;
  const [lo, hi] = [at(0.01), at(0.99)];
  return hi > lo ? [lo, hi] : [lo, values[values.length - 1] ?? hi];
}

/** Where a value stands on the scale, from 0 to 1; everything alike is in the middle. */
export function heatPart(value: number, [lo, hi]: readonly [number, number]): number {
  return hi > lo ? Math.max(0, Math.min(1, (value - lo) / (hi - lo))) : 0.5;
}

export function sayMeasure(value: number | null | undefined, unit: Ranks["unit"]): string {
  if (value === null || value === undefined) return "–";
  if (unit === "bytes") return formatBytes(value);
  const number = formatNumber(value, 3);
  return unit === "ms" ? `${number} ms` : unit === "percent" ? `${number}%` : number;
}

/** Longer stretches without a value stay empty. */
const MOST_JOINED = 3;

/**
 * The same picture without short stretches in which no rank logged anything: the interval before covers them. Times
 * are logged now and then, so that the stripes would say nothing.
 */
export function joined(view: Ranks): Ranks {
  const empty = view.steps.map((_, at) => view.rows.every((row) => row.values[at] === null && !row.bad.includes(at)));
  const kept = view.steps.flatMap((_, at) => {
    if (!empty[at]) return [at];
    let [from, to] = [at, at];
    while (empty[from - 1]) from--;
    while (empty[to + 1]) to++;
    return to - from < MOST_JOINED && from > 0 ? [] : [at];
  });
  if (kept.length === view.steps.length) return view;
  const pick = <T>(list: readonly T[]): T[] => kept.map((at) => list[at] as T);
  const { band } = view;
  return {
    ...view,
    steps: pick(view.steps),
    rows: view.rows.map((row) => ({
      ...row,
      values: pick(row.values),
      whose: pick(row.whose),
      bad: row.bad.map((at) => kept.indexOf(at)),
    })),
    band: {
      mean: pick(band.mean),
      low: pick(band.low),
      high: pick(band.high),
      low_rank: pick(band.low_rank),
      high_rank: pick(band.high_rank),
      bad: pick(band.bad),
      bad_rank: pick(band.bad_rank),
    },
  };
}

/** The steps from the first interval to the end of the last. */
export function stepRange({ steps, width }: Pick<Ranks, "steps" | "width">): readonly [number, number] {
  const first = steps[0] ?? 0;
  return [first, Math.max(first + 1, Math.round((steps[steps.length - 1] ?? first) + width))];
}

/** "steps 120–129", or the one step. */
export function sayInterval(view: Pick<Ranks, "steps" | "width">, at: number): string {
  const first = view.steps[at] ?? 0;
  const last = (view.steps[at + 1] ?? Math.round(first + view.width)) - 1;
  const say = (step: number) => step.toLocaleString("en-US");
  return last > first ? `steps ${say(first)}–${say(last)}` : `step ${say(first)}`;
}

const rowName = ({ first, last }: HeatRow): string => (first === last ? `rank ${first}` : `ranks ${first}–${last}`);

/** The same beside a row, where there is little room. */
export const rowLabel = (row: HeatRow): string => (row.first === row.last ? rowName(row) : `${row.first}–${row.last}`);

const where = (host: string): string => (host ? ` (${host})` : "");

/** What is under the pointer on the heat map. */
export function sayCell(view: Ranks, row: HeatRow, at: number): string {
  const whose = row.whose[at] ?? -1;
  const value = row.values[at] ?? null;
  const named = row.first === row.last || whose < 0 ? rowName(row) : `${rowName(row)}, highest: rank ${whose}`;
  const bad = row.bad.includes(at) ? ", NaN or Inf" : "";
  return `${sayInterval(view, at)}: ${named}${where(row.host)}, ${value === null ? "no value" : sayMeasure(value, view.unit)}${bad}`;
}

/** What is under the pointer on the band. */
export function sayBand(view: Ranks, at: number): string {
  const { mean, low, high, low_rank, high_rank, bad, bad_rank } = view.band;
  if (mean[at] === null || mean[at] === undefined) return `${sayInterval(view, at)}: no value`;
  const odd = bad[at] ? `, NaN or Inf on ${count(bad[at], "rank")} (first: rank ${bad_rank[at]})` : "";
  const say = (value: number | null | undefined) => sayMeasure(value, view.unit);
  return (
    `${sayInterval(view, at)}: mean ${say(mean[at])}, min ${say(low[at])} on rank ${low_rank[at]}, ` +
    `max ${say(high[at])} on rank ${high_rank[at]}${odd}`
  );
}

export const BAND_HEAD = ["Steps", "Mean", "Min", "Min rank", "Max", "Max rank"];
const MOST_SPOKEN = 40;

/** The band as rows of words, at most so many, evenly spread. */
export function bandRows(view: Ranks): string[][] {
  const every = Math.max(1, Math.ceil(view.steps.length / MOST_SPOKEN));
  const { mean, low, high, low_rank, high_rank } = view.band;
  return view.steps.flatMap((_, at) =>
    at % every
      ? []
      : [
          [
            sayInterval(view, at),
            sayMeasure(mean[at], view.unit),
            sayMeasure(low[at], view.unit),
            String(low_rank[at]),
            sayMeasure(high[at], view.unit),
            String(high_rank[at]),
          ],
        ],
  );
}
