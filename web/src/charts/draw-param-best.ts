/**
 * The best value as runs came in: every run a dot, the best so far a line of steps, the runs that improved it marked.
 */

import { labelsBelow } from "../lib/chart-axes";
import type { Box } from "../lib/chart-project";
import { type ParamScale, uprightTicks } from "../lib/param-scale";
import type { BestSoFar } from "../lib/param-table";
import type { Inks } from "./inks";

export interface BestPlot {
  so: BestSoFar;
  values: Float64Array;
  scale: ParamScale;
  /** By the clock, or by the number of the run. */
  x: "time" | "number";
  colourOf(run: number): string;
  names: readonly string[];
}

const PAD = 12;

export function bestBox(size: { width: number; height: number }): Box {
  return { left: 56, top: 28, width: Math.max(40, size.width - 80), height: Math.max(40, size.height - 72) };
}

function range({ so, x }: BestPlot): [number, number] {
  const count = so.order.length;
  const low = x === "time" ? (so.times[0] ?? 0) : 1;
  const high = x === "time" ? (so.times[count - 1] ?? 1) : Math.max(1, count);
  return high > low ? [low, high] : [low - 1, low + 1];
}

const xValue = ({ so, x }: BestPlot, at: number): number => (x === "time" ? (so.times[at] as number) : at + 1);

/** Pixels of a run's dot, by its place in the order. */
export function bestPixel(plot: BestPlot, box: Box, at: number): { x: number; y: number } {
  const [low, high] = range(plot);
  const value = plot.values[plot.so.order[at] as number] as number;
  return {
    x: box.left + PAD + ((xValue(plot, at) - low) / (high - low)) * (box.width - 2 * PAD),
    y: yOf(plot, box, value),
  };
}

const yOf = (plot: BestPlot, box: Box, value: number): number =>
  box.top + box.height - PAD - plot.scale.place(value) * (box.height - 2 * PAD);

export function drawBest(
  ctx: CanvasRenderingContext2D,
  plot: BestPlot,
  size: { width: number; height: number },
  inks: Inks,
): void {
  const box = bestBox(size);
  drawAxes(ctx, plot, box, inks);
  ctx.globalAlpha = Math.max(0.35, Math.min(0.85, 400 / Math.max(1, plot.so.order.length)));
  plot.so.order.forEach((run, at) => {
    const { x, y } = bestPixel(plot, box, at);
    ctx.fillStyle = plot.colourOf(run);
    ctx.beginPath();
    ctx.arc(x, y, 3, 0, 7);
    ctx.fill();
  });
  ctx.globalAlpha = 1;
  drawSteps(ctx, plot, box, inks);
  drawImproved(ctx, plot, box, inks);
}

function drawAxes(ctx: CanvasRenderingContext2D, plot: BestPlot, box: Box, inks: Inks): void {
  ctx.font = `11px ${inks.font}`;
  ctx.lineWidth = 1;
  ctx.strokeStyle = inks.grid;
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const tick of uprightTicks(plot.scale, box.height)) {
    const y = Math.round(box.top + box.height - PAD - tick.place * (box.height - 2 * PAD)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(box.left, y);
    ctx.lineTo(box.left + box.width, y);
    ctx.stroke();
    ctx.fillText(tick.label, box.left - 8, y, box.left - 8);
  }
  const [low, high] = range(plot);
  const inner = { ...box, left: box.left + PAD, width: box.width - 2 * PAD };
  const kind = plot.x === "time" ? ({ xKind: "time" } as const) : { wholeX: true };
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const { px, text } of labelsBelow([low, high], inner, kind, (label) => ctx.measureText(label).width))
    ctx.fillText(text, px, box.top + box.height + 8);
  ctx.fillText(plot.x === "time" ? "time" : "number of runs", box.left + box.width / 2, box.top + box.height + 25);
}

function drawSteps(ctx: CanvasRenderingContext2D, plot: BestPlot, box: Box, inks: Inks): void {
  const { so } = plot;
  ctx.strokeStyle = inks.accent;
  ctx.lineWidth = 2;
  ctx.lineJoin = "round";
  ctx.beginPath();
  so.improved.forEach((at, index) => {
    const { x } = bestPixel(plot, box, at);
    const y = yOf(plot, box, so.best[at] as number);
    if (index === 0) ctx.moveTo(x, y);
    else ctx.lineTo(x, yOf(plot, box, so.best[at - 1] as number));
    ctx.lineTo(x, y);
  });
  const last = so.best[so.best.length - 1];
  if (last !== undefined) ctx.lineTo(box.left + box.width, yOf(plot, box, last));
  ctx.stroke();
}

/** Rings on the runs that improved it, and names where they fit. */
function drawImproved(ctx: CanvasRenderingContext2D, plot: BestPlot, box: Box, inks: Inks): void {
  const taken: { x0: number; x1: number; y: number }[] = [];
  ctx.textBaseline = "bottom";
  for (const at of [...plot.so.improved].reverse()) {
    const { x, y } = bestPixel(plot, box, at);
    ctx.fillStyle = inks.background;
    ctx.strokeStyle = inks.accent;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(x, y, 4.5, 0, 7);
    ctx.fill();
    ctx.stroke();
    const name = plot.names[plot.so.order[at] as number] ?? "";
    const words = name.length > 24 ? `${name.slice(0, 23)}…` : name;
    const width = ctx.measureText(words).width;
    const x0 = Math.max(box.left, Math.min(box.left + box.width - width, x - width / 2));
    if (taken.some((other) => x0 < other.x1 + 8 && x0 + width > other.x0 - 8 && Math.abs(other.y - y) < 15)) continue;
    taken.push({ x0, x1: x0 + width, y });
    ctx.textAlign = "left";
    ctx.lineWidth = 3;
    ctx.strokeStyle = inks.background;
    ctx.strokeText(words, x0, y - 8);
    ctx.fillStyle = inks.text;
    ctx.fillText(words, x0, y - 8);
  }
}

/** The place in the order of the run nearest to a pixel; -1 when none is near. */
export function bestAt(plot: BestPlot, size: { width: number; height: number }, px: number, py: number): number {
  const box = bestBox(size);
  let found = -1;
  let least = 144;
  for (let at = 0; at < plot.so.order.length; at++) {
    const { x, y } = bestPixel(plot, box, at);
    const far = (x - px) ** 2 + (y - py) ** 2;
    if (far < least) {
      least = far;
      found = at;
    }
  }
  return found;
}
