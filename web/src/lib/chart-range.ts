/** The y-range of a panel: everything that is drawn, or without the outliers. */

import { isGroup } from "./chart-groups";
import { type PlotLine, type Range, windowOf } from "./chart-line";

/** Outliers stay in the range, leave it, or leave it only where they would flatten everything else. */
export type Clip = "never" | "extreme" | "always";

/** How many times more than the middle of the numbers all of them must span to be called extreme. */
const EXTREME = 30;
const NEAR = 3;
/** How many times wider a spike must make the axis to be left out of it. */
const FLATTENS = 5;
/** A spike is short: at most this part of its line. */
const SPIKE_PART = 0.02;

export interface RangeOptions {
  log: boolean;
  clip: Clip;
  /** The min/max band is drawn, so it must fit. */
  band: boolean;
  window: Range;
  /** Percents keep to 0 to 100 while all of them do. */
  percent?: boolean;
  /** An accuracy or the like: no tick beyond 1, or beyond 100 where it is written as a percentage. */
  score?: boolean;
}

/** Calls back for each column of drawn numbers, with the part of it that lies in the window. */
function eachColumn(
  lines: readonly PlotLine[],
  { band, window }: Pick<RangeOptions, "band" | "window">,
  visit: (values: Float64Array, from: number, to: number) => void,
): void {
  for (const line of lines) {
    let [from, to] = windowOf(line.x, window);
    // The neighbours just outside the window are drawn, but must not stretch the axis.
    while (from < to && !((line.x[from] as number) >= window[0])) from++;
    while (to > from && !((line.x[to - 1] as number) <= window[1])) to--;
    if (band) {
      visit(line.low, from, to);
      visit(line.high, from, to);
    } else if (line.smooth) visit(line.smooth, from, to);
    // The band of a smoothed group is that of its smoothed lines: the raw mean behind it may leave it.
    if (!band || (line.smooth && isGroup(line.run))) visit(line.value, from, to);
  }
}

/** The drawn numbers inside the window. */
function drawnValues(lines: readonly PlotLine[], options: RangeOptions): Float64Array {
  let most = 0;
  eachColumn(lines, options, (_, from, to) => (most += to - from));
  const out = new Float64Array(most);
  let n = 0;
  eachColumn(lines, options, (values, from, to) => {
    for (let i = from; i < to; i++) {
      const v = values[i] as number;
      if (Number.isFinite(v) && (!options.log || v > 0)) out[n++] = v;
    }
  });
  return out.subarray(0, n);
}

/** The value below which the fraction `q` of the sorted numbers lies. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const at = q * (sorted.length - 1);
  const below = Math.floor(at);
  const lo = sorted[below] as number;
  const hi = sorted[Math.min(sorted.length - 1, below + 1)] as number;
  return lo + (hi - lo) * (at - below);
}

/** Cuts off what lies far outside the middle 95% of the numbers, and nothing when nothing does. */
export function robustExtent(values: ArrayLike<number>): Range {
  const moved = new Float64Array(values);
  const low = selected(moved, 0.025);
  const high = selected(moved, 0.975);
  const slack = (high - low) * 0.5;
  const [min, max] = extent(moved);
  return [min < low - slack ? low - slack * 0.2 : min, max > high + slack ? high + slack * 0.2 : max];
}

/** `quantile` of unsorted numbers, which it moves about: sorting a hundred thousand takes ten times as long. */
function selected(values: Float64Array, q: number): number {
  const at = q * (values.length - 1);
  const below = Math.floor(at);
  placeAt(values, below);
  const lo = values[below] as number;
  const [next] = extent(values.subarray(below + 1));
  return Number.isFinite(next) ? lo + (next - lo) * (at - below) : lo;
}

/** Moves the numbers until the one at `place` is where sorting would put it, with no larger one before it. */
function placeAt(values: Float64Array, place: number): void {
  let from = 0;
  let to = values.length - 1;
  while (from < to) {
    const pivot = values[(from + to) >> 1] as number;
    let i = from;
    let j = to;
    while (i <= j) {
      while ((values[i] as number) < pivot) i++;
      while ((values[j] as number) > pivot) j--;
      if (i > j) break;
      const kept = values[i] as number;
      values[i++] = values[j] as number;
      values[j--] = kept;
    }
    if (place <= j) to = j;
    else if (place >= i) from = i;
    else return;
  }
}

function extent(values: Float64Array): Range {
  let lo = Number.POSITIVE_INFINITY;
  let hi = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    const v = values[i] as number;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  return [lo, hi];
}

/** Room above and below, also for a flat line and for a single point. */
export function padded([lo, hi]: Range, log: boolean): Range {
  if (log) {
    const factor = hi > lo ? (hi / lo) ** 0.04 : 2;
    return [lo / factor, hi * factor];
  }
  const span = hi - lo;
  const tiny = Math.max(Math.abs(hi), Math.abs(lo)) * 1e-12;
  if (lo === 0 && hi === 0) return [-0.05, 1];
  if (!(span > tiny)) {
    const half = Math.max(Math.abs(hi) * 0.1, Number.isInteger(hi) ? 1 : 0);
    return [lo > 0 ? Math.max(0, lo - half) : lo - half, hi < 0 ? Math.min(0, hi + half) : hi + half];
  }
  return [lo - span * 0.05, hi + span * 0.05];
}

/** The y-range to draw. Never empty and never infinite, whatever the lines hold. */
export function valueRange(lines: readonly PlotLine[], options: RangeOptions): Range {
  const values = drawnValues(lines, options);
  if (values.length === 0) return options.log ? [0.1, 10] : [0, 1];
  const whole = extent(values);
  if (options.percent && !options.log && whole[0] >= 0 && whole[1] <= 100) return [0, 100];
  const range = rangeOf(lines, options, values, whole);
  return options.score && whole[0] >= 0 && whole[1] <= 100 ? [range[0], Math.min(range[1], scoreTop(whole[1]))] : range;
}

/** A hair above the best possible score, so that a line there is not cut in half. */
const scoreTop = (most: number): number => (most <= 1 ? 1.005 : 100.5);

function rangeOf(lines: readonly PlotLine[], options: RangeOptions, values: Float64Array, whole: Range): Range {
  if (options.clip === "never") return padded(whole, options.log);
  if (options.clip === "extreme")
    return padded(options.log ? whole : withoutOutliers(lines, options, values, whole), options.log);
  if (!options.log) return padded(robustExtent(values), false);
  const [lo, hi] = robustExtent(values.map(Math.log10));
  return padded([10 ** lo, 10 ** hi], true);
}

function withoutOutliers(lines: readonly PlotLine[], options: RangeOptions, values: Float64Array, whole: Range): Range {
  const robust = robustExtent(values);
  return withoutSpikes(lines, options, withoutExtremes(values, whole, robust), robust);
}

function withoutExtremes(values: Float64Array, whole: Range, robust: Range): Range {
  const span = robust[1] - robust[0];
  if (!(span > 0 && whole[1] - whole[0] > EXTREME * span)) return whole;
  // Only what is far out is left out: the first steep fall of a loss stays.
  return extent(values.filter((v) => v >= robust[0] - NEAR * span && v <= robust[1] + NEAR * span));
}

/** The range without short spikes that would flatten all the rest. How a line begins or ends is not a spike. */
function withoutSpikes(lines: readonly PlotLine[], options: RangeOptions, whole: Range, robust: Range): Range {
  const reach = NEAR * (robust[1] - robust[0]);
  if (!(reach > 0 && whole[1] - whole[0] > FLATTENS * (robust[1] - robust[0]))) return whole;
  const near = (v: number): boolean => v >= robust[0] - reach && v <= robust[1] + reach;
  let [lo, hi] = robust;
  eachColumn(lines, options, (values, from, to) => {
    for (const [start, end] of stretches(values, from, to, near)) {
      if (start > from && end < to && end - start <= Math.max(1, (to - from) * SPIKE_PART)) continue;
      const [least, most] = extent(values.subarray(start, end));
      if (least < lo) lo = Math.max(least, whole[0]);
      if (most > hi) hi = Math.min(most, whole[1]);
    }
    for (let i = from; i < to; i++) {
      const v = values[i] as number;
      if (near(v)) [lo, hi] = [Math.min(lo, v), Math.max(hi, v)];
    }
  });
  return whole[1] - whole[0] > FLATTENS * (hi - lo) ? [lo, hi] : whole;
}

/** Where the numbers leave what is near: from and to, one after the other. */
function stretches(values: Float64Array, from: number, to: number, near: (v: number) => boolean): [number, number][] {
  const out: [number, number][] = [];
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(values[i]) || near(values[i] as number)) continue;
    const last = out[out.length - 1];
    if (last && last[1] === i) last[1] = i + 1;
    else out.push([i, i + 1]);
  }
  return out;
}

/** Nothing finite is drawn: an axis has no range to tell. */
export const isBlank = (lines: readonly PlotLine[], options: RangeOptions): boolean =>
  drawnValues(lines, options).length === 0;

/** All drawn numbers are whole: halves of them on the axis would mean nothing. */
export function allWhole(lines: readonly PlotLine[], options: Pick<RangeOptions, "band" | "window">): boolean {
  let any = false;
  let whole = true;
  eachColumn(lines, options, (values, from, to) => {
    for (let i = from; i < to && whole; i++) {
      const v = values[i] as number;
      if (!Number.isFinite(v)) continue;
      any = true;
      whole = Number.isInteger(v);
    }
  });
  return any && whole;
}

/** How far the drawn numbers go beyond a range, below and above; null where they do not. */
export function beyond(
  lines: readonly PlotLine[],
  options: Omit<RangeOptions, "clip">,
  y: Range,
): { below: number | null; above: number | null } {
  let [lo, hi] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  eachColumn(lines, options, (values, from, to) => {
    for (let i = from; i < to; i++) {
      const v = values[i] as number;
      if (!Number.isFinite(v) || (options.log && v <= 0)) continue;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
  });
  return { below: lo < y[0] ? lo : null, above: hi > y[1] ? hi : null };
}

/** The smallest range that holds all of them. */
export function joinRanges(ranges: readonly Range[]): Range {
  return [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))];
}

/** The x-range to draw: the data's, made drawable when it is one point or is not positive on a log axis. */
export function xRange(extent: Range | null, log: boolean): Range {
  if (!extent) return log ? [1, 10] : [0, 1];
  const [lo, hi] = extent;
  if (log) return [lo > 0 ? lo : 1, hi > lo && hi > 0 ? hi : Math.max(lo, 1) * 10];
  return hi > lo ? [lo, hi] : [lo - 0.5, hi + 0.5];
}
