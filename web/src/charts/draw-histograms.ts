/** Histograms over time, three ways: ridges one behind the other, a heat map, and bands of percentiles. */

import { padded } from "../lib/chart-range";
import { type Axes, type Box, projection } from "../lib/chart-project";
import type { Histograms } from "../lib/schema";
import { drawFrame, plotBox } from "./frame";
import { heatScale, type Inks } from "./inks";

export type HistogramMode = "ridges" | "heat" | "bands";

/** What lies under a pixel. */
export interface HistogramSpot {
  row: number;
  bin: number;
}

interface Layout {
  box: Box;
  axes: Axes;
}

const RIDGE_HEIGHT = 0.34;

export function histogramLayout(data: Histograms, mode: HistogramMode, width: number, height: number): Layout {
  const box = plotBox(width, height);
  const first = data.edges[0] ?? 0;
  const last = data.edges[data.edges.length - 1] ?? 1;
  const values: [number, number] = last > first ? [first, last] : [first - 0.5, first + 0.5];
  const from = data.steps[0] ?? 0;
  const to = data.steps[data.steps.length - 1] ?? 1;
  const steps: [number, number] = to > from ? [from, to] : [from - 0.5, from + 0.5];
  if (mode === "ridges") return { box, axes: { x: values, y: [steps[1], steps[0]], logX: false, logY: false } };
  const extremes = data.percentiles.flat().filter(Number.isFinite);
  const y = mode === "bands" && extremes.length ? padded([Math.min(...extremes), Math.max(...extremes)], false) : values;
  return { box, axes: { x: steps, y, logX: false, logY: false } };
}

export function drawHistograms(ctx: CanvasRenderingContext2D, data: Histograms, mode: HistogramMode, size: { width: number; height: number }, inks: Inks, colour: string, spot: HistogramSpot | null): void {
  const layout = histogramLayout(data, mode, size.width, size.height);
  if (mode === "ridges") drawRidges(ctx, data, layout, inks, colour, spot);
  else if (mode === "heat") drawHeat(ctx, data, layout, inks, colour);
  else drawBands(ctx, data, layout, inks, colour);
}

/** The lowest baseline is the newest step; each ridge hides what is behind it, as mountains do. */
function ridgeBase(layout: Layout, row: number, rows: number): number {
  const { box } = layout;
  const head = box.height * RIDGE_HEIGHT;
  return rows < 2 ? box.top + box.height : box.top + head + ((box.height - head) * row) / (rows - 1);
}

function drawRidges(ctx: CanvasRenderingContext2D, data: Histograms, layout: Layout, inks: Inks, colour: string, spot: HistogramSpot | null): void {
  const { box, axes } = layout;
  drawFrame(ctx, { ...axes, y: [0, 1] }, box, { ...inks, quiet: inks.quiet }, { yKind: "log", grid: false });
  const at = projection(axes, box);
  const most = Math.max(...data.counts.map((row) => Math.max(0, ...row)), 1e-12);
  const tint = heatScale(inks, colour);
  data.counts.forEach((counts, row) => {
    const base = ridgeBase(layout, row, data.counts.length);
    const path = new Path2D();
    path.moveTo(at.x(data.edges[0] as number), base);
    counts.forEach((n, bin) => {
      const middle = ((data.edges[bin] as number) + (data.edges[bin + 1] as number)) / 2;
      path.lineTo(at.x(middle), base - (n / most) * box.height * RIDGE_HEIGHT);
    });
    path.lineTo(at.x(data.edges[data.edges.length - 1] as number), base);
    const age = data.counts.length < 2 ? 1 : row / (data.counts.length - 1);
    const under = spot?.row === row;
    ctx.fillStyle = tint(under ? 0.9 : 0.12 + age * 0.45);
    ctx.fill(path);
    ctx.strokeStyle = under ? inks.text : tint(0.5 + age * 0.5);
    ctx.lineWidth = under ? 1.5 : 1;
    ctx.stroke(path);
  });
  ridgeLabels(ctx, data, layout, inks);
}

function ridgeLabels(ctx: CanvasRenderingContext2D, data: Histograms, layout: Layout, inks: Inks): void {
  const rows = data.steps.length;
  const every = Math.max(1, Math.ceil(rows / Math.max(2, layout.box.height / 40)));
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (let row = rows - 1; row >= 0; row -= every) {
    ctx.fillText((data.steps[row] as number).toLocaleString("en-US"), layout.box.left - 7, ridgeBase(layout, row, rows), layout.box.left - 8);
  }
}

/** Each row reaches to the middle between its step and the next, so that gaps in logging do not look like gaps in data. */
function columnEdges(steps: readonly number[], axes: Axes): number[] {
  const inner = steps.slice(1).map((s, i) => (s + (steps[i] as number)) / 2);
  return [axes.x[0], ...inner, axes.x[1]];
}

function drawHeat(ctx: CanvasRenderingContext2D, data: Histograms, { box, axes }: Layout, inks: Inks, colour: string): void {
  const at = projection(axes, box);
  const tint = heatScale(inks, colour);
  const columns = columnEdges(data.steps, axes);
  data.counts.forEach((counts, row) => {
    const most = Math.max(...counts, 1e-12);
    const x0 = Math.floor(at.x(columns[row] as number));
    const x1 = Math.ceil(at.x(columns[row + 1] as number));
    counts.forEach((n, bin) => {
      if (n <= 0) return;
      const y1 = at.y(data.edges[bin] as number);
      const y0 = at.y(data.edges[bin + 1] as number);
      ctx.fillStyle = tint(0.08 + 0.92 * Math.sqrt(n / most));
      ctx.fillRect(x0, Math.floor(y0), x1 - x0, Math.ceil(y1) - Math.floor(y0));
    });
  });
  drawFrame(ctx, axes, box, inks, { grid: false });
}

function drawBands(ctx: CanvasRenderingContext2D, data: Histograms, { box, axes }: Layout, inks: Inks, colour: string): void {
  drawFrame(ctx, axes, box, inks);
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
export function histogramSpot(data: Histograms, mode: HistogramMode, size: { width: number; height: number }, px: number, py: number): HistogramSpot | null {
  const layout = histogramLayout(data, mode, size.width, size.height);
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
