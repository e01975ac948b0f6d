/** Parallel coordinates: one upright per column, one line per run. Geometry, drawing, and what lies under a pixel. */

import type { Brush } from "../lib/param-brush";
import { type ParamScale, uprightTicks } from "../lib/param-scale";
import { BROKEN, MISSING, type ParamColumn } from "../lib/param-table";
import type { Inks } from "./inks";

export interface ParallelAxis {
  column: ParamColumn;
  scale: ParamScale;
  x: number;
  /** Pixels from top of each run's point. */
  y: Float32Array;
}

export interface ParallelLayout {
  axes: ParallelAxis[];
  top: number;
  bottom: number;
  /** Where runs go that have no value, and those whose value is not finite; null without such runs. */
  missing: number | null;
  broken: number | null;
}

const TOP = 62;
const SIDE = 64;
const RAIL = 24;
const FOOT = 18;
const FEW = 12;

/** Spreads runs with the same name, or one of few numbers, always the same way, so that their number can be seen. */
function jitter(run: number): number {
  return (Math.imul(run + 1, 0x9e3779b1) >>> 16) / 65536 - 0.5;
}

export function parallelLayout(
  columns: readonly ParamColumn[],
  scaleOf: (column: ParamColumn) => ParamScale,
  width: number,
  height: number,
): ParallelLayout {
  const someMissing = columns.some((column) => column.missing > 0);
  const someBroken = columns.some((column) => column.broken > 0);
  const rails = Number(someMissing) + Number(someBroken);
  const bottom = Math.max(TOP + 40, height - FOOT - rails * RAIL);
  const missing = someMissing ? bottom + RAIL : null;
  const broken = someBroken ? bottom + RAIL * rails : null;
  const gap = columns.length > 1 ? (width - 2 * SIDE) / (columns.length - 1) : 0;
  const axes = columns.map((column, at) => {
    const scale = scaleOf(column);
    const spread =
      column.kind !== "number" ? 0.5 / Math.max(1, column.names.length) : column.distinct <= FEW ? 0.03 : 0;
    const y = new Float32Array(column.values.length);
    for (let run = 0; run < y.length; run++) {
      const state = column.state[run];
      if (state === MISSING) y[run] = missing ?? bottom;
      else if (state === BROKEN) y[run] = broken ?? bottom;
      else y[run] = bottom - (bottom - TOP) * (scale.place(column.values[run] as number) + spread * jitter(run));
    }
    return { column, scale, x: columns.length > 1 ? SIDE + gap * at : width / 2, y };
  });
  return { axes, top: TOP, bottom, missing, broken };
}

export interface ParallelPaint {
  passing: Uint8Array;
  brushed: boolean;
  shades: Uint8Array;
  ramp: readonly string[];
  /** From the best run to the worst: the best are drawn last. */
  ranking: Int32Array;
}

/**
 * All lines, those that the brushes leave out as a faint ground. One stroke per colour: two thousand runs in some
 * milliseconds.
 */
export function drawParallelLines(
  ctx: CanvasRenderingContext2D,
  layout: ParallelLayout,
  paint: ParallelPaint,
  inks: Inks,
): void {
  const { axes } = layout;
  if (axes.length === 0) return;
  ctx.lineJoin = "round";
  ctx.lineWidth = 1;
  const kept = paint.ranking.filter((run) => paint.passing[run]);
  if (paint.brushed) {
    ctx.strokeStyle = inks.line;
    ctx.globalAlpha = Math.max(0.06, Math.min(0.4, 60 / paint.ranking.length));
    strokeAll(
      ctx,
      axes,
      paint.ranking.filter((run) => !paint.passing[run]),
    );
  }
  ctx.globalAlpha = Math.max(0.28, Math.min(0.85, 90 / Math.max(1, kept.length)));
  ctx.lineWidth = kept.length < 60 ? 1.5 : 1;
  const groups = new Map<number, number[]>();
  for (let at = kept.length - 1; at >= 0; at--) {
    const run = kept[at] as number;
    const shade = paint.shades[run] as number;
    const group = groups.get(shade);
    if (group) group.push(run);
    else groups.set(shade, [run]);
  }
  for (const shade of [...groups.keys()].sort((a, b) => (a === 255 ? -1 : a) - (b === 255 ? -1 : b))) {
    ctx.strokeStyle = shade === 255 ? inks.quiet : (paint.ramp[shade] as string);
    strokeAll(ctx, axes, groups.get(shade) ?? []);
  }
  ctx.globalAlpha = 1;
}

const A_PATH = 40;

/** Some runs to a path: one path of all would be slow where they cross, and one path each would be slow anyway. */
function strokeAll(ctx: CanvasRenderingContext2D, axes: readonly ParallelAxis[], runs: ArrayLike<number>): void {
  for (let from = 0; from < runs.length; from += A_PATH) {
    ctx.beginPath();
    for (let at = from; at < Math.min(runs.length, from + A_PATH); at++) trace(ctx, axes, runs[at] as number);
    ctx.stroke();
  }
}

function trace(ctx: CanvasRenderingContext2D, axes: readonly ParallelAxis[], run: number): void {
  axes.forEach((axis, at) => {
    const y = axis.y[run] as number;
    if (at === 0) ctx.moveTo(axes.length > 1 ? axis.x : axis.x - 20, y);
    ctx.lineTo(axes.length > 1 ? axis.x : axis.x + 20, y);
  });
}

/** Axes with their ticks, brushes and rails; over the lines. */
export function drawParallelAxes(
  ctx: CanvasRenderingContext2D,
  layout: ParallelLayout,
  brushOf: (key: string) => Brush,
  inks: Inks,
): void {
  ctx.font = `11px ${inks.font}`;
  const { top, bottom } = layout;
  if (layout.missing !== null) drawRail(ctx, layout, layout.missing, "not set", inks);
  if (layout.broken !== null) drawRail(ctx, layout, layout.broken, "NaN", inks);
  for (const axis of layout.axes) {
    ctx.strokeStyle = inks.quiet;
    ctx.lineWidth = 1;
    line(ctx, axis.x, top, axis.x, bottom);
    drawBrush(ctx, layout, axis, brushOf(axis.column.key), inks);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (const tick of uprightTicks(axis.scale, bottom - top)) {
      const y = bottom - (bottom - top) * tick.place;
      ctx.strokeStyle = inks.quiet;
      line(ctx, axis.x, Math.round(y) + 0.5, axis.x + 4, Math.round(y) + 0.5);
      halo(ctx, cut(tick.label), axis.x + 7, y, inks);
    }
  }
}

const LETTERS = 16;
const cut = (label: string): string => (label.length > LETTERS ? `${label.slice(0, LETTERS - 1)}…` : label);

/** Text that reads over lines: its letters have a rim of the background. */
function halo(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, inks: Inks): void {
  ctx.lineWidth = 3;
  ctx.lineJoin = "round";
  ctx.strokeStyle = inks.background;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = inks.text;
  ctx.fillText(text, x, y);
  ctx.lineWidth = 1;
}

function drawRail(ctx: CanvasRenderingContext2D, layout: ParallelLayout, y: number, name: string, inks: Inks): void {
  const first = layout.axes[0];
  const last = layout.axes[layout.axes.length - 1];
  if (!first || !last) return;
  ctx.setLineDash([2, 4]);
  ctx.strokeStyle = inks.quiet;
  line(ctx, first.x, Math.round(y) + 0.5, last.x, Math.round(y) + 0.5);
  ctx.setLineDash([]);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  halo(ctx, name, first.x - 10, y, inks);
  for (const axis of layout.axes) {
    const there = y === layout.broken ? axis.column.broken : axis.column.missing;
    if (there === 0) continue;
    ctx.fillStyle = inks.quiet;
    ctx.beginPath();
    ctx.arc(axis.x, y, 2.5, 0, 7);
    ctx.fill();
  }
}

function drawBrush(
  ctx: CanvasRenderingContext2D,
  layout: ParallelLayout,
  axis: ParallelAxis,
  brush: Brush,
  inks: Inks,
): void {
  const boxes = brushBoxes(layout, axis, brush);
  for (const [from, to] of boxes) {
    ctx.globalAlpha = 0.22;
    ctx.fillStyle = inks.accent;
    ctx.fillRect(axis.x - 8, from, 16, to - from);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = inks.accent;
    ctx.strokeRect(Math.round(axis.x - 8) + 0.5, Math.round(from) + 0.5, 16, Math.round(to - from));
  }
}

/** Where a brush covers an axis, as pairs of pixels from above to below. */
export function brushBoxes(layout: ParallelLayout, axis: ParallelAxis, brush: Brush): [number, number][] {
  const { top, bottom } = layout;
  const at = (place: number): number => bottom - (bottom - top) * Math.max(-0.02, Math.min(1.02, place));
  const boxes: [number, number][] = brush.ranges.map(([low, high]) => [
    at(axis.scale.place(high)) - 2,
    at(axis.scale.place(low)) + 2,
  ]);
  const half = 0.5 / Math.max(1, axis.column.names.length);
  for (const name of brush.names) {
    const index = axis.column.names.indexOf(name);
    if (index >= 0) boxes.push([at(axis.scale.place(index) + half) + 1, at(axis.scale.place(index) - half) - 1]);
  }
  if (brush.missing && layout.missing !== null) boxes.push([layout.missing - 9, layout.missing + 9]);
  if (brush.broken && layout.broken !== null) boxes.push([layout.broken - 9, layout.broken + 9]);
  return boxes;
}

/** One run over all others. */
export function drawParallelRun(
  ctx: CanvasRenderingContext2D,
  layout: ParallelLayout,
  run: number,
  colour: string,
  inks: Inks,
): void {
  for (const [style, width] of [
    [inks.background, 5],
    [colour, 2.5],
  ] as const) {
    // prettier-ignore
    ctx.strokeStyle = style;
    ctx.lineWidth = width;
    ctx.beginPath();
    trace(ctx, layout.axes, run);
    ctx.stroke();
  }
  for (const axis of layout.axes) {
    ctx.fillStyle = colour;
    ctx.beginPath();
    ctx.arc(axis.x, axis.y[run] as number, 3.5, 0, 7);
    ctx.fill();
    ctx.strokeStyle = inks.background;
    ctx.lineWidth = 1;
    ctx.stroke();
  }
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** The run whose line is nearest to a pixel, of those that pass; -1 when none is near. */
export function parallelRunAt(layout: ParallelLayout, passing: Uint8Array, px: number, py: number, within = 8): number {
  const { axes } = layout;
  const after = axes.findIndex((axis) => axis.x >= px);
  const right = axes[Math.max(1, after < 0 ? axes.length - 1 : after)];
  const left = axes[Math.max(0, axes.indexOf(right as ParallelAxis) - 1)];
  if (!left || !right || px < left.x - 12 || px > right.x + 12) return -1;
  const part = Math.max(0, Math.min(1, (px - left.x) / (right.x - left.x)));
  let best = -1;
  let least = within;
  for (let run = 0; run < passing.length; run++) {
    if (!passing[run]) continue;
    const a = left.y[run] as number;
    const b = right.y[run] as number;
    // The distance to a steep line is not the upright one.
    const slope = (b - a) / Math.max(1, right.x - left.x);
    const far = Math.abs(a + (b - a) * part - py) / Math.sqrt(1 + slope * slope);
    if (far < least) {
      least = far;
      best = run;
    }
  }
  return best;
}

/** The axis near a pixel; null when none is. */
export function axisAt(layout: ParallelLayout, px: number, within = 14): ParallelAxis | null {
  const found = layout.axes.find((axis) => Math.abs(axis.x - px) <= within);
  return found ?? null;
}
