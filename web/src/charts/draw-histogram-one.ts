/** One histogram, large: bars as they were counted, with another one as an outline behind it. */

import { type Axes, projection } from "../lib/chart-project";
import type { Histogram } from "../lib/schema";
import { drawAxes, planFor } from "./axes";
import { heatScale, type Inks } from "./inks";

export interface OneOptions {
  log: boolean;
  /** The bin under the mouse. */
  bin: number | null;
  /** Drawn as an outline, scaled to the same content. */
  before: Histogram | null;
}

const NAMED = { xName: "value" };

const sum = (counts: readonly number[]): number => counts.reduce((total, n) => total + n, 0);

/** Axes that hold both histograms; the floor of a log axis is below one. */
function oneAxes(now: Histogram, { before, log }: OneOptions): Axes {
  const ends = [now, ...(before ? [before] : [])].flatMap(({ edges }) => [edges[0] ?? 0, edges[edges.length - 1] ?? 1]);
  const low = Math.min(...ends);
  const high = Math.max(...ends);
  const most = Math.max(...densities(now, now), ...(before ? densities(before, now) : []), 1e-12);
  return {
    x: high > low ? [low, high] : [low - 0.5, low + 0.5],
    y: log ? [0.5, Math.max(1, most) * 1.6] : [0, most * 1.06],
    logX: false,
    logY: log,
  };
}

/** Counts as they would be in bins as wide as those of `like`, with as much content: so two of them can be compared. */
function densities(one: Histogram, like: Histogram): number[] {
  if (one === like) return one.counts;
  const width = ((like.edges[like.edges.length - 1] ?? 1) - (like.edges[0] ?? 0)) / Math.max(1, like.counts.length);
  const scale = sum(like.counts) / Math.max(1e-12, sum(one.counts));
  return one.counts.map(
    (n, bin) => (n * scale * width) / Math.max(1e-300, (one.edges[bin + 1] as number) - (one.edges[bin] as number)),
  );
}

export function drawOneHistogram(
  ctx: CanvasRenderingContext2D,
  now: Histogram,
  size: { width: number; height: number },
  inks: Inks,
  colour: string,
  options: OneOptions,
): void {
  const axes = oneAxes(now, options);
  const plan = planFor(axes, size, NAMED);
  const { box } = plan;
  const at = projection(axes, box);
  drawAxes(ctx, plan, inks);
  const tint = heatScale(inks, colour);
  const floor = box.top + box.height;
  now.counts.forEach((n, bin) => {
    const x0 = at.x(now.edges[bin] as number);
    const x1 = at.x(now.edges[bin + 1] as number);
    const top = n > 0 ? at.y(n) : floor;
    ctx.fillStyle = bin === options.bin ? colour : tint(0.55);
    ctx.fillRect(x0, top, Math.max(1, x1 - x0 - 1), floor - top);
  });
  if (options.before) drawOutline(ctx, options.before, densities(options.before, now), at, floor, inks);
}

function drawOutline(
  ctx: CanvasRenderingContext2D,
  one: Histogram,
  heights: readonly number[],
  at: { x(v: number): number; y(v: number): number },
  floor: number,
  inks: Inks,
): void {
  ctx.strokeStyle = inks.text;
  ctx.lineWidth = 1;
  ctx.setLineDash([3, 3]);
  ctx.beginPath();
  ctx.moveTo(at.x(one.edges[0] as number), floor);
  heights.forEach((n, bin) => {
    const y = n > 0 ? Math.min(floor, at.y(n)) : floor;
    ctx.lineTo(at.x(one.edges[bin] as number), y);
    ctx.lineTo(at.x(one.edges[bin + 1] as number), y);
  });
  ctx.lineTo(at.x(one.edges[one.edges.length - 1] as number), floor);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** The bin under a pixel; null outside. */
export function binAt(
  now: Histogram,
  size: { width: number; height: number },
  px: number,
  options: OneOptions,
): number | null {
  const axes = oneAxes(now, options);
  const { box } = planFor(axes, size, NAMED);
  const { x } = axes;
  const value = x[0] + ((px - box.left) / box.width) * (x[1] - x[0]);
  const bin = now.counts.findIndex(
    (_, index) => value >= (now.edges[index] as number) && value <= (now.edges[index + 1] as number),
  );
  return bin < 0 ? null : bin;
}
