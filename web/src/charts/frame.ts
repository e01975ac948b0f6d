/** The axes of charts that are drawn once and not zoomed: histograms, curves, figures, embeddings. */

import type { Box, Axes } from "../lib/chart-project";
import { projection } from "../lib/chart-project";
import { type AxisKind, tickLabels, ticks } from "../lib/chart-ticks";
import type { Inks } from "./inks";

export interface FrameOptions {
  xKind?: AxisKind;
  yKind?: AxisKind;
  /** Words under x-ticks 0, 1, 2 … instead of numbers. */
  names?: readonly string[] | null;
  xTitle?: string;
  yTitle?: string;
  grid?: boolean;
}

/** The drawing area inside a canvas of this size. */
export function plotBox(width: number, height: number, titled = false): Box {
  return { left: 48, top: 10, width: Math.max(10, width - 62), height: Math.max(10, height - (titled ? 50 : 36)) };
}

export function drawFrame(ctx: CanvasRenderingContext2D, axes: Axes, box: Box, inks: Inks, options: FrameOptions = {}): void {
  const at = projection(axes, box);
  const { xKind = "number", yKind = axes.logY ? "log" : "number", names = null, grid = true } = options;
  const floor = box.top + box.height;
  ctx.font = `11px ${inks.font}`;
  ctx.lineWidth = 1;
  ctx.fillStyle = inks.quiet;
  const ys = ticks(...axes.y, Math.max(2, box.height / 28), yKind);
  tickLabels(ys, yKind).forEach((label, i) => {
    const y = Math.round(at.y(ys[i] as number)) + 0.5;
    ctx.strokeStyle = inks.grid;
    if (grid) line(ctx, box.left, y, box.left + box.width, y);
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillText(label, box.left - 7, y, box.left - 8);
  });
  ctx.strokeStyle = inks.line;
  line(ctx, box.left, floor + 0.5, box.left + box.width, floor + 0.5);
  const xs = names ? everyNth(names, box.width) : ticks(...axes.x, Math.max(2, box.width / 84), xKind);
  const labels = names ? xs.map((i) => names[i] ?? "") : tickLabels(xs, xKind);
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  xs.forEach((v, i) => ctx.fillText(labels[i] ?? "", at.x(v), floor + 8, names ? box.width / Math.max(1, xs.length) : 80));
  if (options.xTitle) ctx.fillText(options.xTitle, box.left + box.width / 2, floor + 23, box.width);
}

function everyNth(names: readonly string[], width: number): number[] {
  const step = Math.max(1, Math.ceil(names.length / (width / 48)));
  return names.map((_, i) => i).filter((i) => i % step === 0);
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
