/** A line as it is drawn: the server's columns as typed arrays, with null as NaN, and how to walk along it. */

import type { Line, SeriesData } from "./schema";

export interface PlotLine {
  run: string;
  key: string;
  rank: number;
  superseded: boolean;
  x: Float64Array;
  value: Float64Array;
  low: Float64Array;
  high: Float64Array;
  smooth: Float64Array | null;
  /** Indices of buckets that hold a NaN. */
  nan: readonly number[];
  posInf: readonly number[];
  negInf: readonly number[];
  /** Where exactly the first of each kind stands; a bucket's x is only its middle. */
  first: { readonly nan?: number; readonly posInf?: number; readonly negInf?: number };
  points: number;
}

export type Range = readonly [number, number];

/** Turns a column with null into one with NaN. */
function column(values: readonly (number | null)[]): Float64Array {
  const out = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = values[i] ?? Number.NaN;
  return out;
}

/** A smoothed line has no number where the raw one has none: it must not run on through a stretch of NaN. */
function smoothColumn(smooth: readonly (number | null)[], value: readonly (number | null)[]): Float64Array {
  return column(smooth.map((v, i) => (value[i] === null ? null : v)));
}

export type Columns = Pick<PlotLine, "x" | "value" | "low" | "high" | "smooth">;

function columns(line: Line): Columns {
  return {
    x: Float64Array.from(line.x),
    value: column(line.value),
    low: column(line.low),
    high: column(line.high),
    smooth: line.smooth ? smoothColumn(line.smooth, line.value) : null,
  };
}

/** An answer of the server, as it is drawn. */
export interface Answer {
  lines: readonly PlotLine[];
  missing: readonly string[];
  /** The time was up: only the first runs are here. */
  partial: boolean;
}

export const answerOf = (data: SeriesData): Answer => ({
  lines: data.lines.map((line) => plotLine(line)),
  missing: data.missing,
  partial: data.partial,
});

export function plotLine(line: Line, given: Columns = columns(line)): PlotLine {
  const below = line.inf.findIndex((i) => i < 0);
  return {
    run: line.run,
    key: line.key,
    rank: line.rank,
    superseded: line.superseded ?? false,
    ...given,
    nan: line.nan,
    posInf: line.inf.filter((i) => i >= 0),
    negInf: line.inf.filter((i) => i < 0).map((i) => -i - 1),
    first: { nan: line.nan_x[0], posInf: below === 0 ? undefined : line.inf_x[0], negInf: line.inf_x[below] },
    points: line.points,
  };
}

/** What names a line among others: stable over fetches, so that colours and order stay. */
export const lineId = (line: PlotLine): string => `${line.run}\u0000${line.rank}\u0000${line.superseded ? 1 : 0}`;

/** The first index whose x is at least `x`. */
export function lowerBound(xs: ArrayLike<number>, x: number): number {
  let lo = 0;
  let hi = xs.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((xs[mid] as number) < x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** The index whose x is nearest, or -1 for an empty line. */
export function nearestIndex(xs: ArrayLike<number>, x: number): number {
  if (xs.length === 0) return -1;
  const right = lowerBound(xs, x);
  if (right === 0) return 0;
  if (right === xs.length) return right - 1;
  return x - (xs[right - 1] as number) <= (xs[right] as number) - x ? right - 1 : right;
}

/** Indices from one before the window to one after it, so that lines leave the picture instead of ending in it. */
export function windowOf(xs: ArrayLike<number>, range: Range): [number, number] {
  const from = Math.max(0, lowerBound(xs, range[0]) - 1);
  let to = lowerBound(xs, range[1]);
  while (to < xs.length && (xs[to] as number) <= range[1]) to++;
  return [from, Math.min(xs.length, to + 1)];
}

/** Something that takes a path: a Path2D, or the SVG text below. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

export interface Projection {
  x(value: number): number;
  y(value: number): number;
}

const drawable = (px: number): boolean => Number.isFinite(px);

/** Draws the column `ys` with gaps where it has no number; returns the points that stand alone, to be drawn as dots. */
export function tracePath(
  pen: Pen,
  xs: Float64Array,
  ys: Float64Array,
  span: Range,
  at: Projection,
): [number, number][] {
  const alone: [number, number][] = [];
  let run = 0;
  let px = 0;
  let py = 0;
  for (let i = span[0]; i < span[1]; i++) {
    const x = at.x(xs[i] as number);
    const y = at.y(ys[i] as number);
    if (!drawable(x) || !drawable(y)) {
      if (run === 1) alone.push([px, py]);
      run = 0;
      continue;
    }
    if (run === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
    run++;
    px = x;
    py = y;
  }
  if (run === 1) alone.push([px, py]);
  return alone;
}

/** The stretches of buckets that have a minimum and a maximum which differ somewhere: what a band is drawn for. */
export function bandStretches(line: PlotLine, span: Range, at: Projection): [number, number][] {
  const out: [number, number][] = [];
  let start = -1;
  let wide = false;
  for (let i = span[0]; i <= span[1]; i++) {
    const low = i < span[1] ? at.y(line.low[i] as number) : Number.NaN;
    const high = i < span[1] ? at.y(line.high[i] as number) : Number.NaN;
    if (drawable(low) && drawable(high)) {
      if (start < 0) start = i;
      wide ||= low !== high;
    } else if (start >= 0) {
      if (wide) out.push([start, i]);
      start = -1;
      wide = false;
    }
  }
  return out;
}

/** A pen that writes the `d` of an SVG path. */
export class SvgPen implements Pen {
  readonly parts: string[] = [];
  moveTo(x: number, y: number): void {
    this.parts.push(`M${round(x)} ${round(y)}`);
  }
  lineTo(x: number, y: number): void {
    this.parts.push(`L${round(x)} ${round(y)}`);
  }
  toString(): string {
    return this.parts.join("");
  }
}

export const round = (value: number): number => Math.round(value * 100) / 100;

/** The x-range of all lines, or null when there is no point. */
export function xExtent(lines: readonly PlotLine[], positive = false): Range | null {
  let lo = Number.POSITIVE_INFINITY;
  let hi = Number.NEGATIVE_INFINITY;
  for (const { x } of lines) {
    if (x.length === 0) continue;
    const first = positive ? x[lowerBound(x, Number.MIN_VALUE)] : x[0];
    const last = x[x.length - 1] as number;
    if (first === undefined) continue;
    if (first < lo) lo = first;
    if (last > hi) hi = last;
  }
  return lo <= hi ? [lo, hi] : null;
}
