/** Steps as stacked bars, one colour a part. */

import { type Bar, tallest } from "../lib/parts-layout";
import { unitTicks } from "../lib/profile-ticks";
import type { Inks } from "./inks";

export interface PartsPicture {
  bars: readonly Bar[];
  colours: readonly string[];
  /** The bar and the part under the mouse. */
  hover: PartsSpot | null;
}

export interface PartsSpot {
  bar: number;
  /** -1: above all parts. */
  part: number;
}

interface Size {
  width: number;
  height: number;
}

const LEFT = 54;
const RIGHT = 8;
const TOP = 12;
const BOTTOM = 22;
const WIDEST = 84;

function frame(picture: PartsPicture, size: Size) {
  const width = Math.max(10, size.width - LEFT - RIGHT);
  const height = Math.max(10, size.height - TOP - BOTTOM);
  const pitch = Math.min(WIDEST, width / Math.max(1, picture.bars.length));
  const gap = pitch > 4 ? Math.min(6, Math.max(1, pitch * 0.16)) : 0;
  return { width, height, pitch, gap, most: tallest(picture.bars), floor: TOP + height };
}

export function drawParts(ctx: CanvasRenderingContext2D, picture: PartsPicture, size: Size, inks: Inks): void {
  const { width, height, pitch, gap, most, floor } = frame(picture, size);
  ctx.font = `11px ${inks.font}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.lineWidth = 1;
  for (const { at, label } of unitTicks(0, most, height / 34, "ns")) {
    const y = Math.round(floor - (at / most) * height) + 0.5;
    ctx.strokeStyle = inks.grid;
    line(ctx, LEFT, y, LEFT + width, y);
    ctx.fillStyle = inks.quiet;
    ctx.fillText(label, LEFT - 7, y, LEFT - 8);
  }
  picture.bars.forEach((bar, at) => {
    const x = LEFT + at * pitch;
    let y = floor;
    bar.parts.forEach((ns, part) => {
      const tall = Math.min((ns / most) * height, y - TOP);
      if (tall <= 0) return;
      ctx.fillStyle = picture.colours[part] ?? inks.line;
      ctx.globalAlpha = opacity(picture.hover, at, part);
      ctx.fillRect(x, y - tall, Math.max(0.8, pitch - gap), tall);
      y -= tall;
    });
    ctx.globalAlpha = 1;
    if (bar.wall > most * 1.001) cutMark(ctx, x, pitch - gap, inks);
  });
  xLabels(ctx, picture.bars, pitch, floor, inks);
  ctx.strokeStyle = inks.line;
  line(ctx, LEFT, floor + 0.5, LEFT + width, floor + 0.5);
}

function opacity(hover: PartsSpot | null, bar: number, part: number): number {
  if (!hover) return 1;
  if (hover.bar !== bar) return 0.55;
  return hover.part < 0 || hover.part === part ? 1 : 0.75;
}

/** The bar goes on beyond the picture: a slanted gap near its top. */
function cutMark(ctx: CanvasRenderingContext2D, x: number, width: number, inks: Inks): void {
  ctx.strokeStyle = inks.background;
  ctx.lineWidth = 3;
  line(ctx, x - 2, TOP + 12, x + width + 2, TOP + 6);
  ctx.lineWidth = 1;
}

function xLabels(ctx: CanvasRenderingContext2D, bars: readonly Bar[], pitch: number, floor: number, inks: Inks): void {
  const each = Math.max(1, Math.ceil(44 / pitch));
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  bars.forEach((bar, at) => {
    if (at % each === 0)
      ctx.fillText(bar.first.toLocaleString("en-US"), LEFT + at * pitch + pitch / 2, floor + 7, each * pitch);
  });
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** What is under a pixel, or null. */
export function partsSpot(picture: PartsPicture, size: Size, px: number, py: number): PartsSpot | null {
  const { height, pitch, most, floor } = frame(picture, size);
  const bar = Math.floor((px - LEFT) / pitch);
  const found = picture.bars[bar];
  if (!found || py > floor + BOTTOM) return null;
  let below = floor;
  for (const [part, ns] of found.parts.entries()) {
    const top = Math.max(TOP, below - (ns / most) * height);
    if (py <= below && py > top) return { bar, part };
    below = top;
  }
  return { bar, part: -1 };
}

/** How many bars fit without becoming lines. */
export function mostBars(width: number): number {
  return Math.max(10, Math.floor((width - LEFT - RIGHT) / 5));
}
