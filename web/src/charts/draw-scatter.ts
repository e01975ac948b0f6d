/** A matrix of scatter plots, and one of them large: geometry, drawing, and which run lies under a pixel. */

import { fitted } from "../lib/chart-axes";
import type { Box } from "../lib/chart-project";
import { visibleText } from "../lib/format";
import { type ParamScale, type Tick, uprightTicks } from "../lib/param-scale";
import type { ParamColumn } from "../lib/param-table";
import type { Inks } from "./inks";

export interface Dim {
  column: ParamColumn;
  scale: ParamScale;
  /** Places from 0 to 1; NaN without a value. Names are spread a little. */
  places: Float32Array;
}

export interface ScatterPaint {
  passing: Uint8Array;
  shades: Uint8Array;
  ramp: readonly string[];
  /** From the best run to the worst. */
  ranking: Int32Array;
}

export interface ScatterCell {
  column: number;
  row: number;
  box: Box;
}

const FEW = 12;

function jitter(run: number, salt: number): number {
  let mixed = Math.imul(run + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 16) / 65536 - 0.5;
}

export function dimOf(column: ParamColumn, scale: ParamScale, salt: number): Dim {
  const places = new Float32Array(column.values.length);
  const spread = column.kind !== "number" ? 0.55 / Math.max(1, column.names.length) : column.distinct <= FEW ? 0.02 : 0;
  for (let run = 0; run < places.length; run++)
    places[run] = scale.place(column.values[run] as number) + spread * jitter(run, salt);
  return { column, scale, places };
}

const LEFT = 84;
const TOP = 8;
const FOOT = 44;
const GAP = 8;

/** The lower half of the matrix with its diagonal, where each column's own distribution stands. */
export function scatterCells(dims: number, width: number, height: number): ScatterCell[] {
  const w = (width - LEFT - 12 - GAP * (dims - 1)) / dims;
  const h = (height - TOP - FOOT - GAP * (dims - 1)) / dims;
  const cells: ScatterCell[] = [];
  for (let row = 0; row < dims; row++)
    for (let column = 0; column <= row; column++)
      cells.push({
        row,
        column,
        box: {
          left: LEFT + column * (w + GAP),
          top: TOP + row * (h + GAP),
          width: Math.max(4, w),
          height: Math.max(4, h),
        },
      });
  return cells;
}

const PAD = 6;
const LARGE_PAD = 24;
const padOf = (box: Box): number => (box.width > 420 ? LARGE_PAD : PAD);
const xOf = (box: Box, place: number): number => box.left + padOf(box) + place * (box.width - 2 * padOf(box));
const yOf = (box: Box, place: number): number =>
  box.top + box.height - padOf(box) - place * (box.height - 2 * padOf(box));

/** From places to the pixels of a cell. */
export function pixelsOf(box: Box): { x(place: number): number; y(place: number): number } {
  return { x: (place) => xOf(box, place), y: (place) => yOf(box, place) };
}

/** The places under a pixel of a cell. */
export function placesAt(box: Box, px: number, py: number): [number, number] {
  const pad = padOf(box);
  return [(px - box.left - pad) / (box.width - 2 * pad), (box.top + box.height - pad - py) / (box.height - 2 * pad)];
}

export function drawScatterMatrix(
  ctx: CanvasRenderingContext2D,
  dims: readonly Dim[],
  cells: readonly ScatterCell[],
  paint: ScatterPaint,
  inks: Inks,
): void {
  ctx.font = `11px ${inks.font}`;
  for (const { row, column, box } of cells) {
    const x = dims[column] as Dim;
    const y = dims[row] as Dim;
    ctx.strokeStyle = inks.grid;
    ctx.lineWidth = 1;
    ctx.strokeRect(
      Math.round(box.left) + 0.5,
      Math.round(box.top) + 0.5,
      Math.round(box.width),
      Math.round(box.height),
    );
    if (row === column) drawOwn(ctx, x, box, paint, inks);
    else drawPoints(ctx, x, y, box, paint, inks, box.width > 300 ? 3 : 2);
    if (column === 0) drawSide(ctx, y, box, inks, row === 0);
    if (row === dims.length - 1) drawFoot(ctx, x, box, inks);
  }
}

/** Points in the order of the ranking, the best last; those that are left out as faint dots below. */
export function drawPoints(
  ctx: CanvasRenderingContext2D,
  x: Dim,
  y: Dim,
  box: Box,
  paint: ScatterPaint,
  inks: Inks,
  size: number,
): void {
  const { ranking, passing, shades, ramp } = paint;
  for (const kept of [0, 1]) {
    ctx.globalAlpha = kept ? Math.max(0.45, Math.min(0.9, 300 / ranking.length)) : 0.5;
    for (let at = ranking.length - 1; at >= 0; at--) {
      const run = ranking[at] as number;
      if (passing[run] !== kept) continue;
      const px = x.places[run] as number;
      const py = y.places[run] as number;
      if (Number.isNaN(px) || Number.isNaN(py)) continue;
      const shade = shades[run] as number;
      ctx.fillStyle = !kept ? inks.line : shade === 255 ? inks.quiet : (ramp[shade] as string);
      if (size < 3)
        ctx.fillRect(
          xOf(box, px) - size / 2,
          yOf(box, py) - size / 2,
          size + (kept ? 0.5 : 0),
          size + (kept ? 0.5 : 0),
        );
      else dot(ctx, xOf(box, px), yOf(box, py), kept ? size : size - 1);
    }
  }
  ctx.globalAlpha = 1;
}

function dot(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 7);
  ctx.fill();
}

const BARS = 16;

/** How the runs are spread over one column, those that pass in front. */
function drawOwn(ctx: CanvasRenderingContext2D, dim: Dim, box: Box, paint: ScatterPaint, inks: Inks): void {
  const bars = dim.column.kind === "number" ? BARS : Math.max(1, Math.min(BARS, dim.column.names.length));
  const all = new Float64Array(bars);
  const kept = new Float64Array(bars);
  dim.column.values.forEach((value, run) => {
    const place = dim.scale.place(value);
    if (Number.isNaN(place)) return;
    const bar = Math.max(0, Math.min(bars - 1, Math.floor(place * bars)));
    all[bar] = (all[bar] as number) + 1;
    if (paint.passing[run]) kept[bar] = (kept[bar] as number) + 1;
  });
  const most = Math.max(1, ...all);
  const floor = box.top + box.height - 1;
  const room = Math.max(1, box.height - 24);
  const width = (box.width - 2 * PAD) / bars;
  for (const [counts, ink] of [
    [all, inks.grid],
    [kept, inks.quiet],
  ] as const) {
    // prettier-ignore
    ctx.fillStyle = ink;
    counts.forEach((n, bar) =>
      ctx.fillRect(
        box.left + PAD + bar * width + 0.5,
        floor - (n / most) * room,
        Math.max(1, width - 1),
        (n / most) * room,
      ),
    );
  }
  ctx.fillStyle = inks.text;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.font = `600 11px ${inks.font}`;
  ctx.fillText(
    fitted(visibleText(dim.column.label), box.width - 2 * PAD, (text) => ctx.measureText(text).width),
    box.left + PAD,
    box.top + 5,
  );
  ctx.font = `11px ${inks.font}`;
}

const cut = (label: string, letters: number): string =>
  label.length > letters ? `${label.slice(0, letters - 1)}…` : label;

function drawSide(ctx: CanvasRenderingContext2D, dim: Dim, box: Box, inks: Inks, own: boolean): void {
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  if (!own)
    for (const tick of uprightTicks(dim.scale, box.height))
      ctx.fillText(cut(tick.label, 10), LEFT - 8, yOf(box, tick.place), LEFT - 24);
}

/** Labels under a column of cells, left out where they would touch. */
function drawFoot(ctx: CanvasRenderingContext2D, dim: Dim, box: Box, inks: Inks): void {
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  ctx.fillStyle = inks.quiet;
  const floor = box.top + box.height + 6;
  for (const tick of apart(ctx, dim.scale.ticks(Math.max(2, box.width / 42)), box))
    ctx.fillText(cut(tick.label, 10), xOf(box, tick.place), floor);
  ctx.fillStyle = inks.text;
  ctx.fillText(
    fitted(visibleText(dim.column.label), box.width, (text) => ctx.measureText(text).width),
    box.left + box.width / 2,
    floor + 16,
  );
}

function apart(ctx: CanvasRenderingContext2D, all: readonly Tick[], box: Box): Tick[] {
  let free = box.left - GAP / 2;
  return all.filter((tick) => {
    const half = ctx.measureText(cut(tick.label, 10)).width / 2 + 3;
    const x = xOf(box, tick.place);
    if (x - half < free || x + half > box.left + box.width + GAP) return false;
    free = x + half;
    return true;
  });
}

export function largeBox(width: number, height: number): Box {
  return { left: 84, top: 12, width: Math.max(40, width - 104), height: Math.max(40, height - 64) };
}

/** One plot with its axes. */
export function drawLargeScatter(
  ctx: CanvasRenderingContext2D,
  x: Dim,
  y: Dim,
  size: { width: number; height: number },
  paint: ScatterPaint,
  inks: Inks,
): void {
  const box = largeBox(size.width, size.height);
  ctx.font = `11px ${inks.font}`;
  ctx.strokeStyle = inks.grid;
  ctx.lineWidth = 1;
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const tick of uprightTicks(y.scale, box.height)) {
    const at = Math.round(yOf(box, tick.place)) + 0.5;
    line(ctx, box.left, at, box.left + box.width, at);
    ctx.fillText(cut(tick.label, 12), box.left - 8, at, 72);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const tick of apart(ctx, x.scale.ticks(box.width / 80), box)) {
    const at = Math.round(xOf(box, tick.place)) + 0.5;
    line(ctx, at, box.top, at, box.top + box.height);
    ctx.fillText(cut(tick.label, 10), at, box.top + box.height + 8);
  }
  ctx.fillStyle = inks.text;
  ctx.fillText(visibleText(x.column.label), box.left + box.width / 2, box.top + box.height + 28, box.width);
  drawPoints(ctx, x, y, box, paint, inks, 4);
  ctx.textAlign = "left";
  ctx.fillStyle = inks.text;
  ctx.fillText(visibleText(y.column.label), box.left + 6, box.top + 4, box.width);
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** The run nearest to a pixel, of those that pass; -1 when none is near. */
export function pointAt(x: Dim, y: Dim, box: Box, passing: Uint8Array, px: number, py: number, within = 10): number {
  let best = -1;
  let least = within * within;
  for (let run = 0; run < passing.length; run++) {
    if (!passing[run]) continue;
    const dx = xOf(box, x.places[run] as number) - px;
    const dy = yOf(box, y.places[run] as number) - py;
    const far = dx * dx + dy * dy;
    if (far < least) {
      least = far;
      best = run;
    }
  }
  return best;
}

/** A run's point in a cell, marked. */
export function markPoint(ctx: CanvasRenderingContext2D, x: Dim, y: Dim, box: Box, run: number, inks: Inks): void {
  const px = x.places[run] as number;
  const py = y.places[run] as number;
  if (Number.isNaN(px) || Number.isNaN(py)) return;
  ctx.strokeStyle = inks.text;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.arc(xOf(box, px), yOf(box, py), 6, 0, 7);
  ctx.stroke();
}

/** What is being brushed. */
export function drawRubber(
  ctx: CanvasRenderingContext2D,
  from: { x: number; y: number },
  to: { x: number; y: number },
  inks: Inks,
): void {
  ctx.globalAlpha = 0.14;
  ctx.fillStyle = inks.accent;
  ctx.fillRect(from.x, from.y, to.x - from.x, to.y - from.y);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = inks.accent;
  ctx.lineWidth = 1;
  ctx.strokeRect(from.x, from.y, to.x - from.x, to.y - from.y);
}
