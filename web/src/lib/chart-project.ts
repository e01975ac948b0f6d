/** From values to pixels: one projection for the canvas, the overlay and the SVG. */

import type { Projection, Range } from "./chart-line";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Axes {
  x: Range;
  y: Range;
  logX: boolean;
  logY: boolean;
}

function axis(range: Range, log: boolean, from: number, length: number): (value: number) => number {
  const f = log ? Math.log10 : (v: number) => v;
  const lo = f(range[0]);
  const scale = length / (f(range[1]) - lo);
  return log ? (v) => from + (v > 0 ? (Math.log10(v) - lo) * scale : Number.NaN) : (v) => from + (v - lo) * scale;
}

/** Values far outside the box are held near it: canvas and SVG lose precision with coordinates of a billion. */
const held = (px: number): number => (px > 1e5 ? 1e5 : px < -1e5 ? -1e5 : px);

export function projection(axes: Axes, box: Box): Projection {
  const x = axis(axes.x, axes.logX, box.left, box.width);
  const y = axis(axes.y, axes.logY, box.top + box.height, -box.height);
  return { x: (v) => held(x(v)), y: (v) => held(y(v)) };
}

/** The x under a pixel. */
export function xAt(axes: Axes, box: Box, px: number): number {
  const part = (px - box.left) / box.width;
  const [lo, hi] = axes.x;
  if (!axes.logX) return lo + (hi - lo) * part;
  return 10 ** (Math.log10(lo) + (Math.log10(hi) - Math.log10(lo)) * part);
}
