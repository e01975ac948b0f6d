/** Zooming and panning an x-range, on a linear and on a log axis. */

import type { Range } from "./chart-line";

const forward = (x: number, log: boolean): number => (log ? Math.log10(x) : x);
const back = (x: number, log: boolean): number => (log ? 10 ** x : x);

/** Moves the range by a fraction of its width, never past the data by more than the range itself. */
export function pan(range: Range, fraction: number, limits: Range, log = false): Range {
  const lo = forward(range[0], log);
  const hi = forward(range[1], log);
  const span = hi - lo;
  const least = forward(limits[0], log) - span * 0.5;
  const most = forward(limits[1], log) + span * 0.5;
  const by = Math.min(Math.max(span * fraction, least - lo), most - hi);
  return [back(lo + by, log), back(hi + by, log)];
}

/** Shrinks (factor < 1) or widens the range around `anchor`; null when it grew to show everything. */
export function scaleRange(range: Range, factor: number, anchor: number, limits: Range, log = false): Range | null {
  const at = forward(anchor, log);
  const lo = at - (at - forward(range[0], log)) * factor;
  const hi = at + (forward(range[1], log) - at) * factor;
  const all: Range = [forward(limits[0], log), forward(limits[1], log)];
  if (lo <= all[0] && hi >= all[1]) return null;
  return usable([back(lo, log), back(hi, log)]) ? [back(lo, log), back(hi, log)] : range;
}

/** A range that can be drawn: two different numbers, not closer than floating point can tell apart. */
export function usable(range: Range): boolean {
  const span = range[1] - range[0];
  return Number.isFinite(span) && span > Math.max(Math.abs(range[0]), Math.abs(range[1])) * 1e-12;
}

/** The range between two dragged positions, or null for what was only a click. */
export function dragRange(a: number, b: number, pixels: number): Range | null {
  if (Math.abs(pixels) < 4) return null;
  const range: Range = [Math.min(a, b), Math.max(a, b)];
  return usable(range) ? range : null;
}

export type Zooms = Readonly<Record<string, Range>>;

/** Zooms are kept per x-axis: panels over steps do not follow one over epochs. */
export function withZoom(zooms: Zooms, x: string, range: Range | null): Zooms {
  const { [x]: _, ...rest } = zooms;
  return range ? { ...rest, [x]: range } : rest;
}
