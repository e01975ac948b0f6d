/** What the tooltip says: every line's bucket at one x, ordered by value, with the nearest one marked. */

import { lineId, nearestIndex, type PlotLine, type Range } from "./chart-line";

export interface HoverRow {
  id: string;
  run: string;
  rank: number;
  superseded: boolean;
  index: number;
  x: number;
  /** What the eye follows: the smoothed value when there is one. NaN when the bucket has none. */
  shown: number;
  raw: number;
  low: number;
  high: number;
  smoothed: boolean;
  /** "NaN", "+Inf", "−Inf", several of them, or "". */
  odd: string;
}

/** One row per line that reaches x; a line that ended long before it is left out. */
export function hoverRows(lines: readonly PlotLine[], x: number, window: Range): HoverRow[] {
  const reach = (window[1] - window[0]) * 0.02;
  const rows: HoverRow[] = [];
  for (const line of lines) {
    const index = nearestIndex(line.x, x);
    if (index < 0) continue;
    const at = line.x[index] as number;
    const first = line.x[0] as number;
    const last = line.x[line.x.length - 1] as number;
    // A single point is met from anywhere: there is no line to follow to it.
    if (line.x.length > 1 && (x < first - reach || x > last + reach)) continue;
    rows.push(rowOf(line, index, at));
  }
  return rows.sort(byValue);
}

function rowOf(line: PlotLine, index: number, x: number): HoverRow {
  const raw = line.value[index] as number;
  const smooth = line.smooth?.[index];
  const smoothed = smooth !== undefined && Number.isFinite(smooth);
  return {
    id: lineId(line),
    run: line.run,
    rank: line.rank,
    superseded: line.superseded,
    index,
    x,
    shown: smoothed ? smooth : raw,
    raw,
    low: line.low[index] as number,
    high: line.high[index] as number,
    smoothed,
    odd: oddities(line, index),
  };
}

function oddities(line: PlotLine, index: number): string {
  const found: string[] = [];
  if (line.nan.includes(index)) found.push("NaN");
  if (line.posInf.includes(index)) found.push("+Inf");
  if (line.negInf.includes(index)) found.push("−Inf");
  return found.join(", ");
}

/** Largest first; what has no number comes last. */
function byValue(a: HoverRow, b: HoverRow): number {
  const left = Number.isFinite(a.shown);
  const right = Number.isFinite(b.shown);
  if (left && right) return b.shown - a.shown || (a.id < b.id ? -1 : 1);
  return left ? -1 : right ? 1 : a.id < b.id ? -1 : 1;
}

/** The row nearest to the pointer's y, measured in pixels; -1 when no row has a number. */
export function nearestRow(rows: readonly HoverRow[], y: number, toPixel: (value: number) => number): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  rows.forEach((row, i) => {
    const distance = Math.abs(toPixel(row.shown) - y);
    if (distance < least) {
      least = distance;
      best = i;
    }
  });
  return best;
}

/** At most `most` rows around the nearest one, and how many were left out above and below. */
export function rowsAround<T>(
  rows: readonly T[],
  nearest: number,
  most: number,
): { above: number; rows: readonly T[]; below: number } {
  if (rows.length <= most) return { above: 0, rows, below: 0 };
  const from = Math.min(Math.max(0, Math.max(nearest, 0) - (most >> 1)), rows.length - most);
  return { above: from, rows: rows.slice(from, from + most), below: rows.length - from - most };
}

export interface OddMark {
  run: string;
  kind: "NaN" | "+Inf" | "−Inf";
  x: number;
}

/**
 * Every bucket with something that is not finite, for the panel's legend; the first of each run and kind, with counts.
 */
export function oddMarks(lines: readonly PlotLine[]): { first: OddMark[]; total: number } {
  const first: OddMark[] = [];
  let total = 0;
  for (const line of lines) {
    const kinds = [
      ["NaN", line.nan, line.first.nan],
      ["+Inf", line.posInf, line.first.posInf],
      ["−Inf", line.negInf, line.first.negInf],
    ] as const;
    for (const [kind, at, x] of kinds) {
      total += at.length;
      if (x !== undefined) first.push({ run: line.run, kind, x });
    }
  }
  return { first: first.sort((a, b) => a.x - b.x), total };
}
