/** Histograms over time, three ways: ridges one behind the other, a heat map, and bands of percentiles. */

import { padded } from "../lib/chart-range";
import { type Axes, type Box, projection } from "../lib/chart-project";
import type { AxesOptions, AxesPlan } from "../lib/chart-axes";
import { tickLabels } from "../lib/chart-ticks";
import { isAllBad } from "../lib/distributions";
import type { Histograms } from "../lib/schema";
import { drawAxes, planFor } from "./axes";
import { heatScale, type Inks } from "./inks";

export type HistogramMode = "ridges" | "heat" | "bands";

/** What lies under a pixel. */
export interface HistogramSpot {
  row: number;
  bin: number;
}

export interface HistogramOptions {
  /** The range of values, where several pictures share one; else the data's own. */
  range?: readonly [number, number] | null;
  /** Heights and shades grow with the logarithm of the counts, so that a full bin does not hide the others. */
  logCounts?: boolean;
  /** A row that is marked, whatever is under the mouse. */
  mark?: number | null;
}

interface Layout {
  box: Box;
  axes: Axes;
  plan: AxesPlan;
}

const RIDGE_HEIGHT = 0.34;

function histogramLayout(
  data: Histograms,
  mode: HistogramMode,
  width: number,
  height: number,
  range: readonly [number, number] | null = null,
): Layout {
  const size = { width, height };
  const first = data.edges[0] ?? 0;
  const last = data.edges[data.edges.length - 1] ?? 1;
  const values: [number, number] =
    range && range[1] > range[0] ? [range[0], range[1]] : last > first ? [first, last] : [first - 0.5, first + 0.5];
  const from = data.steps[0] ?? 0;
  const to = data.steps[data.steps.length - 1] ?? 1;
  const steps: [number, number] = to > from ? [from, to] : [from - 0.5, from + 0.5];
  if (mode === "ridges")
    return layoutOf({ x: values, y: [steps[1], steps[0]], logX: false, logY: false }, size, {
      xName: "value",
      rows: ["step", ...tickLabels(data.steps)],
    });
  const extremes = range ? [] : data.percentiles.flat().filter(Number.isFinite);
  const y =
    mode === "bands" && extremes.length ? padded([Math.min(...extremes), Math.max(...extremes)], false) : values;
  return layoutOf({ x: steps, y, logX: false, logY: false }, size, { xName: "step", wholeX: true });
}

function layoutOf(axes: Axes, size: { width: number; height: number }, options: AxesOptions): Layout {
  const plan = planFor(axes, size, options);
  return { axes, plan, box: plan.box };
}

export function drawHistograms(
  ctx: CanvasRenderingContext2D,
  data: Histograms,
  mode: HistogramMode,
  size: { width: number; height: number },
  inks: Inks,
  colour: string,
  spot: HistogramSpot | null,
  options: HistogramOptions = {},
): void {
  const layout = histogramLayout(data, mode, size.width, size.height, options.range ?? null);
  const height = heights(options.logCounts ?? false);
  if (mode === "ridges") drawRidges(ctx, data, layout, inks, colour, spot?.row ?? options.mark ?? null, height);
  else if (mode === "heat") drawHeat(ctx, data, layout, inks, colour, height);
  else drawBands(ctx, data, layout, inks, colour);
  drawBadRows(ctx, data, layout, mode, inks);
  const row = spot?.row ?? options.mark ?? null;
  if (mode !== "ridges" && row !== null) drawMark(ctx, layout, data.steps[row], inks);
  if (mode !== "ridges") return;
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.fillText("step", layout.box.left - 7, layout.box.top);
}

function heights(log: boolean): (n: number) => number {
  return log ? Math.log1p : (n) => n;
}

/** A cross at every step whose values are all NaN or infinite. */
function drawBadRows(
  ctx: CanvasRenderingContext2D,
  data: Histograms,
  { box, axes, plan }: Layout,
  mode: HistogramMode,
  inks: Inks,
): void {
  const at = projection(axes, box);
  const rows = data.steps.length;
  ctx.fillStyle = inks.bad;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  data.steps.forEach((step, row) => {
    if (!isAllBad(data, row)) return;
    if (mode === "ridges") ctx.fillText("×", box.left + 8, ridgeBase({ box, axes, plan }, row, rows) - 3);
    else ctx.fillText("×", at.x(step), box.top + box.height - 5);
  });
}

/** A line at a step of a heat map or of bands. */
function drawMark(ctx: CanvasRenderingContext2D, { box, axes }: Layout, step: number | undefined, inks: Inks): void {
  if (step === undefined) return;
  const x = Math.round(projection(axes, box).x(step)) + 0.5;
  ctx.strokeStyle = inks.text;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x, box.top);
  ctx.lineTo(x, box.top + box.height);
  ctx.stroke();
}

/** The lowest baseline is the newest step; each ridge hides what is behind it, as mountains do. */
function ridgeBase(layout: Layout, row: number, rows: number): number {
  const { box } = layout;
  const head = box.height * RIDGE_HEIGHT;
  return rows < 2 ? box.top + box.height : box.top + head + ((box.height - head) * row) / (rows - 1);
}

/** Peaks grow with the square root of their ridge's highest one: a narrow ridge does not flatten all the wide ones. */
function drawRidges(
  ctx: CanvasRenderingContext2D,
  data: Histograms,
  layout: Layout,
  inks: Inks,
  colour: string,
  chosen: number | null,
  height: (n: number) => number,
): void {
  const { box, axes } = layout;
  drawAxes(ctx, layout.plan, inks, { grid: "upright", withoutY: true });
  const at = projection(axes, box);
  const peaks = data.counts.map((row) => height(Math.max(0, ...row)));
  const most = Math.max(...peaks, 1e-12);
  const tint = heatScale(inks, colour);
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, 0, box.width + 1, box.top + box.height + 1);
  ctx.clip();
  data.counts.forEach((counts, row) => {
    if (isAllBad(data, row)) return;
    const base = ridgeBase(layout, row, data.counts.length);
    const unit = (box.height * RIDGE_HEIGHT) / Math.max(1e-12, Math.sqrt((peaks[row] as number) * most));
    const path = new Path2D();
    path.moveTo(at.x(data.edges[0] as number), base);
    counts.forEach((n, bin) => {
      const middle = ((data.edges[bin] as number) + (data.edges[bin + 1] as number)) / 2;
      path.lineTo(at.x(middle), base - height(n) * unit);
    });
    path.lineTo(at.x(data.edges[data.edges.length - 1] as number), base);
    const age = data.counts.length < 2 ? 1 : row / (data.counts.length - 1);
    const under = chosen === row;
    ctx.fillStyle = tint(under ? 0.9 : 0.12 + age * 0.45);
    ctx.fill(path);
    ctx.strokeStyle = under ? inks.text : tint(0.5 + age * 0.5);
    ctx.lineWidth = under ? 1.5 : 1;
    ctx.stroke(path);
  });
  ctx.restore();
  ridgeLabels(ctx, data, layout, inks, chosen);
}

function ridgeLabels(
  ctx: CanvasRenderingContext2D,
  data: Histograms,
  layout: Layout,
  inks: Inks,
  chosen: number | null,
): void {
  const rows = data.steps.length;
  const every = Math.max(1, Math.ceil(rows / Math.max(2, layout.box.height / 40)));
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const labels = tickLabels(data.steps);
  const shown = Array.from({ length: Math.ceil(rows / every) }, (_, i) => rows - 1 - i * every);
  // The first step has its label too, where the one after it leaves room.
  if (ridgeBase(layout, shown[shown.length - 1] ?? 0, rows) - ridgeBase(layout, 0, rows) >= 14) shown.push(0);
  for (const row of shown) {
    const y = ridgeBase(layout, row, rows);
    const crowded = chosen !== null && chosen !== row && Math.abs(ridgeBase(layout, chosen, rows) - y) < 12;
    ctx.fillStyle = inks.quiet;
    if (!crowded && y > layout.box.top + 20) ctx.fillText(labels[row] as string, layout.box.left - 7, y);
  }
  if (chosen === null || data.steps[chosen] === undefined) return;
  ctx.fillStyle = inks.text;
  ctx.fillText(labels[chosen] as string, layout.box.left - 7, ridgeBase(layout, chosen, rows));
}

/**
 * Each row reaches to the middle between its step and the next, so that gaps in logging do not look like gaps in data.
 */
function columnEdges(steps: readonly number[], axes: Axes): number[] {
  const inner = steps.slice(1).map((s, i) => (s + (steps[i] as number)) / 2);
  return [axes.x[0], ...inner, axes.x[1]];
}

function drawHeat(
  ctx: CanvasRenderingContext2D,
  data: Histograms,
  { box, axes, plan }: Layout,
  inks: Inks,
  colour: string,
  height: (n: number) => number,
): void {
  const at = projection(axes, box);
  const tint = heatScale(inks, colour);
  const columns = columnEdges(data.steps, axes);
  data.counts.forEach((counts, row) => {
    const most = Math.max(height(Math.max(0, ...counts)), 1e-12);
    const x0 = Math.floor(at.x(columns[row] as number));
    const x1 = Math.ceil(at.x(columns[row + 1] as number));
    counts.forEach((n, bin) => {
      if (n <= 0) return;
      const y1 = at.y(data.edges[bin] as number);
      const y0 = at.y(data.edges[bin + 1] as number);
      ctx.fillStyle = tint(0.08 + 0.92 * Math.sqrt(height(n) / most));
      ctx.fillRect(x0, Math.floor(y0), x1 - x0, Math.ceil(y1) - Math.floor(y0));
    });
  });
  drawAxes(ctx, plan, inks, { grid: "none" });
}

function drawBands(
  ctx: CanvasRenderingContext2D,
  data: Histograms,
  { box, axes, plan }: Layout,
  inks: Inks,
  colour: string,
): void {
  drawAxes(ctx, plan, inks);
  const at = projection(axes, box);
  ctx.fillStyle = colour;
  ctx.strokeStyle = colour;
  const x = (row: number): number => at.x(data.steps[row] as number);
  const y = (row: number, p: number): number => at.y(data.percentiles[row]?.[p] ?? Number.NaN);
  const rows = data.steps.map((_, i) => i).filter((i) => Number.isFinite(y(i, 4)));
  for (let p = 0; p < 4; p++) {
    const path = new Path2D();
    for (const row of rows) path.lineTo(x(row), y(row, p));
    for (const row of [...rows].reverse()) path.lineTo(x(row), y(row, 8 - p));
    path.closePath();
    ctx.globalAlpha = 0.1 + p * 0.06;
    ctx.fill(path);
  }
  ctx.globalAlpha = 1;
  ctx.lineWidth = 1.75;
  const middle = new Path2D();
  for (const row of rows) middle.lineTo(x(row), y(row, 4));
  ctx.stroke(middle);
}

/** Which row and bin lie under a pixel; null outside. */
export function histogramSpot(
  data: Histograms,
  mode: HistogramMode,
  size: { width: number; height: number },
  px: number,
  py: number,
  range: readonly [number, number] | null = null,
): HistogramSpot | null {
  const layout = histogramLayout(data, mode, size.width, size.height, range);
  const { box, axes } = layout;
  if (px < box.left || px > box.left + box.width || py < box.top || py > box.top + box.height) return null;
  const across = axes.x[0] + ((px - box.left) / box.width) * (axes.x[1] - axes.x[0]);
  const value = mode === "ridges" ? across : axes.y[1] - ((py - box.top) / box.height) * (axes.y[1] - axes.y[0]);
  const bin = data.edges.findIndex((edge, i) => value >= edge && value <= (data.edges[i + 1] ?? Number.NaN));
  if (mode !== "ridges") {
    const distances = data.steps.map((s) => Math.abs(s - across));
    return { row: distances.indexOf(Math.min(...distances)), bin };
  }
  const rows = data.steps.length;
  const row = data.steps.findIndex((_, i) => ridgeBase(layout, i, rows) >= py - 2);
  return { row: row < 0 ? rows - 1 : row, bin };
}
