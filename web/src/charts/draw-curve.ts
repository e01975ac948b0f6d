/** Lines over time with a unit, plain or stacked; the highest point of the first line is marked. */

import { movingSpan } from "../lib/profile-span";
import { unitTicks } from "../lib/profile-ticks";
import type { Curve } from "../lib/schema";
import type { Inks } from "./inks";

export interface CurvePicture {
  curve: Curve;
  colours: readonly string[];
  /** Index into `at_ns` under the mouse. */
  hover: number | null;
  peak: Peak | null;
}

interface Size {
  width: number;
  height: number;
}

const LEFT = 66;
const RIGHT = 14;
const TOP = 18;
const BOTTOM = 24;

/** Each line's upper edge; stacked lines stand on those before them. */
export function edges(curve: Curve): number[][] {
  const lines = Object.values(curve.lines);
  if (!curve.stacked) return lines;
  const sum = curve.at_ns.map(() => 0);
  return lines.map((line) => line.map((value, at) => (sum[at] = (sum[at] ?? 0) + (value ?? 0))));
}

export interface Peak {
  line: number;
  /** Index into `at_ns`. */
  at: number;
  value: number;
}

/** The highest point: of the whole stack, else of what is used (what is only reserved is no need of the program). */
export function peakOf(curve: Curve): Peak | null {
  const names = Object.keys(curve.lines);
  let best: Peak | null = null;
  edges(curve).forEach((values, line) => {
    if (!curve.stacked && /reserved|limit|total/i.test(names[line] ?? "") && names.length > 1) return;
    values.forEach((value, at) => {
      if (!best || value > best.value) best = { line, at, value };
    });
  });
  return best;
}

function frame(curve: Curve, size: Size) {
  const box = { width: Math.max(10, size.width - LEFT - RIGHT), height: Math.max(10, size.height - TOP - BOTTOM) };
  const [first, last] = movingSpan(curve);
  const most = Math.max(...edges(curve).map((line) => line.reduce((a, b) => Math.max(a, b ?? 0), 0)), 1) * 1.06;
  const x = (ns: number) => LEFT + ((ns - first) / Math.max(1, last - first)) * box.width;
  const y = (value: number) => TOP + box.height - (value / most) * box.height;
  return { ...box, first, last, most, x, y, floor: TOP + box.height };
}

export function drawCurve(ctx: CanvasRenderingContext2D, picture: CurvePicture, size: Size, inks: Inks): void {
  const { curve } = picture;
  const at = frame(curve, size);
  axes(ctx, curve, at, inks);
  ctx.save();
  ctx.beginPath();
  ctx.rect(LEFT - 4, 0, at.width + 8, size.height);
  ctx.clip();
  const tops = edges(curve);
  for (let line = tops.length - 1; line >= 0; line--) {
    const colour = picture.colours[line] ?? inks.accent;
    const points = tops[line] ?? [];
    trace(ctx, curve.at_ns, points, at);
    ctx.lineTo(at.x(curve.at_ns[points.length - 1] ?? 0), at.floor);
    ctx.lineTo(at.x(curve.at_ns[0] ?? 0), at.floor);
    ctx.closePath();
    ctx.fillStyle = colour;
    ctx.globalAlpha = curve.stacked ? 0.85 : line === (picture.peak?.line ?? 0) ? 0.14 : 0;
    ctx.fill();
    ctx.globalAlpha = 1;
    trace(ctx, curve.at_ns, points, at);
    ctx.strokeStyle = colour;
    ctx.lineWidth = curve.stacked ? 0.8 : 1.5;
    ctx.stroke();
  }
  marks(ctx, picture, at, tops, inks);
  ctx.restore();
}

type Frame = ReturnType<typeof frame>;

function trace(ctx: CanvasRenderingContext2D, times: readonly number[], values: readonly number[], at: Frame): void {
  ctx.beginPath();
  values.forEach((value, i) => {
    const x = at.x(times[i] ?? 0);
    const y = at.y(value ?? 0);
    if (i === 0) ctx.moveTo(x, y);
    else {
      ctx.lineTo(x, at.y(values[i - 1] ?? 0)); // memory stays as it is until it changes
      ctx.lineTo(x, y);
    }
  });
}

function axes(ctx: CanvasRenderingContext2D, curve: Curve, at: Frame, inks: Inks): void {
  ctx.font = `11px ${inks.font}`;
  ctx.lineWidth = 1;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const tick of unitTicks(0, at.most, at.height / 34, curve.unit ?? "bytes")) {
    const y = Math.round(at.y(tick.at)) + 0.5;
    ctx.strokeStyle = inks.grid;
    segment(ctx, LEFT, y, LEFT + at.width, y);
    ctx.fillStyle = inks.quiet;
    ctx.fillText(tick.label, LEFT - 7, y, LEFT - 8);
  }
  ctx.strokeStyle = inks.line;
  segment(ctx, LEFT, at.floor + 0.5, LEFT + at.width, at.floor + 0.5);
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const tick of unitTicks(at.first, at.last, at.width / 90, "ns"))
    ctx.fillText(tick.label, at.x(tick.at), at.floor + 8, 84);
}

function marks(
  ctx: CanvasRenderingContext2D,
  { curve, hover, peak, colours }: CurvePicture,
  at: Frame,
  tops: readonly number[][],
  inks: Inks,
): void {
  if (peak) dot(ctx, at.x(curve.at_ns[peak.at] ?? 0), at.y(peak.value), inks.text, inks);
  if (hover === null) return;
  const x = Math.round(at.x(curve.at_ns[hover] ?? 0)) + 0.5;
  ctx.strokeStyle = inks.quiet;
  ctx.setLineDash([3, 3]);
  segment(ctx, x, TOP, x, at.floor);
  ctx.setLineDash([]);
  tops.forEach((values, i) => dot(ctx, x, at.y(values[hover] ?? 0), colours[i] ?? inks.accent, inks));
}

function dot(ctx: CanvasRenderingContext2D, x: number, y: number, colour: string, inks: Inks): void {
  ctx.beginPath();
  ctx.arc(x, y, 3.5, 0, 2 * Math.PI);
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = inks.background;
  ctx.stroke();
}

function segment(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** The point nearest to a pixel, by time. */
export function curveSpot(curve: Curve, size: Size, px: number): number | null {
  const at = frame(curve, size);
  if (curve.at_ns.length === 0 || px < LEFT - 6 || px > LEFT + at.width + 6) return null;
  const wanted = at.first + ((px - LEFT) / at.width) * (at.last - at.first);
  let [lo, hi] = [0, curve.at_ns.length - 1];
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((curve.at_ns[mid] ?? 0) < wanted) lo = mid + 1;
    else hi = mid;
  }
  const before = curve.at_ns[lo - 1];
  return before !== undefined && wanted - before < (curve.at_ns[lo] ?? 0) - wanted ? lo - 1 : lo;
}
