/** One measure over ranks and steps: a heat map with a row for each rank, and below it the band over all ranks. */

import { labelsBelow } from "../lib/chart-axes";
import { ticks } from "../lib/chart-ticks";
import { heatPart, heatRange, rowLabel, sayMeasure, stepRange } from "../lib/rank-view";
import type { Ranks } from "../lib/schema";
import { heatScale, type Inks } from "./inks";

interface Size {
  width: number;
  height: number;
}

const LEFT = 84;
const RIGHT = 28;
const TOP = 8;
const BOTTOM = 40;
const ROW_PX = 16;
const MOST_PX = 330;
/** The lightest cell, which must not look like an empty one. */
const FAINTEST = 0.16;
/** What is not finite. Seen on both themes. */
const BAD = "#e5484d";

export const heatHeight = (rows: number): number =>
  Math.round(Math.min(MOST_PX, Math.max(90, rows * ROW_PX))) + TOP + BOTTOM;

function boxOf(size: Size) {
  return {
    left: LEFT,
    top: TOP,
    width: Math.max(10, size.width - LEFT - RIGHT),
    height: Math.max(10, size.height - TOP - BOTTOM),
  };
}

type Box = ReturnType<typeof boxOf>;

/** Where each interval begins, and where the last one ends. */
function edgesOf(view: Ranks, box: Box): number[] {
  const [first, end] = stepRange(view);
  return [...view.steps, end].map((step) => box.left + ((step - first) / (end - first)) * box.width);
}

/** The interval under a pixel, or -1. */
export function columnAt(view: Ranks, size: Size, px: number): number {
  const edges = edgesOf(view, boxOf(size));
  if (px < (edges[0] ?? 0) || px >= (edges[edges.length - 1] ?? 0)) return -1;
  return edges.findLastIndex((edge) => edge <= px);
}

/** The row under a pixel, or -1. */
export function rowAt(view: Ranks, size: Size, py: number): number {
  const box = boxOf(size);
  const at = Math.floor(((py - box.top) / box.height) * view.rows.length);
  return at >= 0 && at < view.rows.length ? at : -1;
}

export function drawHeat(
  ctx: CanvasRenderingContext2D,
  view: Ranks,
  size: Size,
  inks: Inks,
  hover: readonly [number, number] | null,
): void {
  const box = boxOf(size);
  const edges = edgesOf(view, box);
  const left = (j: number): number => edges[j] ?? box.left;
  const wide = (j: number): number => left(j + 1) - left(j);
  const h = box.height / Math.max(1, view.rows.length);
  const range = heatRange(view.rows);
  const tint = heatScale(inks, inks.accent);
  const gap = h > 6 ? 1 : 0;
  view.rows.forEach((row, i) => {
    const top = box.top + i * h;
    row.values.forEach((value, j) => {
      if (value === null) return;
      ctx.fillStyle = tint(FAINTEST + (1 - FAINTEST) * heatPart(value, range));
      ctx.fillRect(left(j), top, wide(j) + 0.3, Math.max(0.7, h - gap));
    });
    ctx.fillStyle = BAD;
    for (const j of row.bad) ctx.fillRect(left(j), top, Math.max(2, wide(j)), Math.max(2, h - gap));
  });
  ctx.font = `11px ${inks.font}`;
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(18 / h));
  view.rows.forEach((row, i) => {
    if (i % every === 0) ctx.fillText(rowLabel(row), box.left - 8, box.top + (i + 0.5) * h, LEFT - 10);
  });
  stepAxis(ctx, view, box, inks);
  if (!hover) return;
  ctx.strokeStyle = inks.text;
  ctx.lineWidth = 1;
  ctx.strokeRect(
    left(hover[1]) - 0.5,
    box.top + hover[0] * h - 0.5,
    Math.max(2, wide(hover[1])) + 1,
    Math.max(2, h - gap) + 1,
  );
}

/** Values that are logged now and then leave intervals empty; the line goes on over these. */
export function drawBand(ctx: CanvasRenderingContext2D, view: Ranks, size: Size, inks: Inks, hover: number): void {
  const box = boxOf(size);
  const { mean, low, high } = view.band;
  const values = [...low, ...high].filter((value): value is number => value !== null);
  if (values.length === 0) return;
  let lo = values.reduce((a, b) => Math.min(a, b));
  let hi = values.reduce((a, b) => Math.max(a, b));
  const air = (hi - lo || Math.abs(hi) || 1) * 0.06;
  lo = lo >= 0 ? Math.max(0, lo - air) : lo - air;
  hi += air;
  const edges = edgesOf(view, box);
  const x = (at: number) => ((edges[at] ?? 0) + (edges[at + 1] ?? 0)) / 2;
  const y = (value: number) => box.top + box.height - ((value - lo) / (hi - lo)) * box.height;
  ctx.font = `11px ${inks.font}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 1;
  for (const tick of ticks(lo, hi, box.height / 34, view.unit === "bytes" ? "bytes" : "number")) {
    const at = Math.round(y(tick)) + 0.5;
    ctx.strokeStyle = inks.grid;
    line(ctx, box.left, at, box.left + box.width, at);
    ctx.fillStyle = inks.quiet;
    ctx.fillText(sayMeasure(tick, view.unit), box.left - 8, at, LEFT - 10);
  }
  ctx.fillStyle = inks.accent;
  ctx.globalAlpha = 0.18;
  const known = mean.flatMap((value, at) => (value === null ? [] : [at]));
  const only = known.length === 1 ? known[0] : undefined;
  ctx.beginPath();
  if (only !== undefined) ctx.rect(x(only) - 1.5, y(high[only] ?? 0), 3, y(low[only] ?? 0) - y(high[only] ?? 0));
  for (const at of known) ctx.lineTo(x(at), y(high[at] ?? 0));
  for (const at of [...known].reverse()) ctx.lineTo(x(at), y(low[at] ?? 0));
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.strokeStyle = inks.accent;
  ctx.lineWidth = 1.6;
  ctx.beginPath();
  for (const at of known) ctx.lineTo(x(at), y(mean[at] ?? 0));
  if (only !== undefined) ctx.arc(x(only), y(mean[only] ?? 0), 1.5, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.fillStyle = BAD;
  view.band.bad.forEach((bad, at) => bad > 0 && ctx.fillRect(x(at) - 1, box.top, 2, 6));
  stepAxis(ctx, view, box, inks);
  if (hover < 0) return;
  ctx.strokeStyle = inks.line;
  ctx.lineWidth = 1;
  line(ctx, x(hover), box.top, x(hover), box.top + box.height);
}

function stepAxis(ctx: CanvasRenderingContext2D, view: Ranks, box: Box, inks: Inks): void {
  const [first, end] = stepRange(view);
  const floor = box.top + box.height;
  ctx.font = `11px ${inks.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  ctx.strokeStyle = inks.line;
  ctx.lineWidth = 1;
  line(ctx, box.left, floor + 0.5, box.left + box.width, floor + 0.5);
  ctx.fillStyle = inks.quiet;
  // With an interval for each step, a label stands below the middle of its step.
  const middle = view.width < 2 ? 0.5 : 0;
  const range = [first - middle, end - middle] as const;
  for (const { px, text } of labelsBelow(range, box, { wholeX: true }, (label) => ctx.measureText(label).width)) {
    line(ctx, Math.round(px) + 0.5, floor, Math.round(px) + 0.5, floor + 4);
    ctx.fillText(text, px, floor + 8);
  }
  ctx.fillText("Step", box.left + box.width / 2, floor + 23);
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
