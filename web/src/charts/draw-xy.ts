/** Points, lines and bars drawn once: PR and ROC curves, plotly figures, embeddings. */

import type { XYTrace } from "../lib/chart-figure";
import { padded } from "../lib/chart-range";
import type { AxesOptions, AxesPlan } from "../lib/chart-axes";
import { type Axes, projection } from "../lib/chart-project";
import { drawAxes, planFor } from "./axes";
import type { Shape } from "../lib/class-inks";
import type { Inks } from "./inks";
import { addMark } from "./marks";

export interface XYLine extends XYTrace {
  colour: string;
  dash?: readonly number[];
  radius?: number;
  shape?: Shape;
}

export interface XYOptions extends AxesOptions {
  x?: [number, number];
  y?: [number, number];
  /** A dashed line from corner to corner: what chance gives on a ROC curve. */
  diagonal?: boolean;
}

function extent(all: readonly number[]): [number, number] {
  let lo = Number.POSITIVE_INFINITY;
  let hi = Number.NEGATIVE_INFINITY;
  for (const v of all) {
    if (!Number.isFinite(v)) continue;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  return lo <= hi ? [lo, hi] : [0, 1];
}

function xyAxes(lines: readonly XYLine[], options: XYOptions): Axes {
  const bars = lines.some((l) => l.kind === "bar");
  const ys = extent(lines.flatMap((l) => l.y));
  const xs = extent(lines.flatMap((l) => l.x));
  const y = options.y ?? padded(bars ? [Math.min(0, ys[0]), Math.max(0, ys[1])] : ys, false);
  const x = options.x ?? (bars ? [xs[0] - 0.6, xs[1] + 0.6] : padded(xs, false));
  return { x, y, logX: false, logY: false };
}

const namesOf = (lines: readonly XYLine[], options: XYOptions): readonly string[] | null =>
  options.names ?? lines.find((l) => l.labels)?.labels ?? null;

const xyPlan = (
  axes: Axes,
  lines: readonly XYLine[],
  size: { width: number; height: number },
  options: XYOptions,
): AxesPlan => planFor(axes, size, { ...options, names: namesOf(lines, options) });

export function drawXY(
  ctx: CanvasRenderingContext2D,
  lines: readonly XYLine[],
  size: { width: number; height: number },
  inks: Inks,
  options: XYOptions = {},
): void {
  const axes = xyAxes(lines, options);
  const plan = xyPlan(axes, lines, size, options);
  const { box } = plan;
  const at = projection(axes, box);
  drawAxes(ctx, plan, inks, { names: namesOf(lines, options) !== null });
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top - 3, box.width + 3, box.height + 6);
  ctx.clip();
  if (options.diagonal) {
    ctx.strokeStyle = inks.line;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(at.x(axes.x[0]), at.y(axes.y[0]));
    ctx.lineTo(at.x(axes.x[1]), at.y(axes.y[1]));
    ctx.stroke();
    ctx.setLineDash([]);
  }
  const bars = lines.filter((l) => l.kind === "bar");
  for (const line of [...bars, ...lines.filter((l) => l.kind !== "bar")]) {
    ctx.fillStyle = line.colour;
    ctx.strokeStyle = line.colour;
    if (line.kind === "bar") drawBars(ctx, line, at, bars.indexOf(line), bars.length);
    if (line.kind === "line" || line.kind === "both") drawPath(ctx, line, at);
    if (line.kind === "points" || line.kind === "both") drawPoints(ctx, line, at);
  }
  ctx.restore();
}

/** The drawn point nearest to a place on the canvas, no farther than `most` pixels. */
export function nearestPoint(
  lines: readonly XYLine[],
  size: { width: number; height: number },
  px: number,
  py: number,
  most: number,
  options: XYOptions = {},
): { line: number; index: number } | null {
  const axes = xyAxes(lines, options);
  const at = projection(axes, xyPlan(axes, lines, size, options).box);
  let least = most;
  let found: { line: number; index: number } | null = null;
  lines.forEach(({ x, y }, line) =>
    x.forEach((value, index) => {
      const distance = Math.hypot(at.x(value) - px, at.y(y[index] as number) - py);
      if (distance <= least) [least, found] = [distance, { line, index }];
    }),
  );
  return found;
}

type At = ReturnType<typeof projection>;

function drawBars(ctx: CanvasRenderingContext2D, line: XYLine, at: At, index: number, count: number): void {
  const width = 0.8 / count;
  line.x.forEach((x, i) => {
    const left = at.x(x - 0.4 + index * width);
    const top = at.y(line.y[i] as number);
    ctx.fillRect(
      left,
      Math.min(top, at.y(0)),
      Math.max(1, at.x(x - 0.4 + (index + 1) * width) - left - 1),
      Math.abs(at.y(0) - top),
    );
  });
}

function drawPath(ctx: CanvasRenderingContext2D, line: XYLine, at: At): void {
  ctx.lineWidth = 1.5;
  ctx.setLineDash([...(line.dash ?? [])]);
  ctx.beginPath();
  let open = false;
  line.x.forEach((x, i) => {
    const px = at.x(x);
    const py = at.y(line.y[i] as number);
    if (!Number.isFinite(px) || !Number.isFinite(py)) open = false;
    else if (open) ctx.lineTo(px, py);
    else {
      ctx.moveTo(px, py);
      open = true;
    }
  });
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawPoints(ctx: CanvasRenderingContext2D, line: XYLine, at: At): void {
  const radius = line.radius ?? 2.5;
  ctx.globalAlpha = 0.75;
  ctx.beginPath();
  line.x.forEach((x, i) => {
    const px = at.x(x);
    const py = at.y(line.y[i] as number);
    if (!Number.isFinite(px + py)) return;
    addMark(ctx, line.shape ?? "circle", px, py, radius);
  });
  ctx.fill();
  ctx.globalAlpha = 1;
}
