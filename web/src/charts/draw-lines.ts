/** Draws lines, bands and marks into a canvas context. Gets arrays and a projection; knows nothing of the page. */

import { bandStretches, type PlotLine, type Projection, type Range, tracePath, windowOf } from "../lib/chart-line";
import { oddSigns } from "../lib/chart-marks";
import type { Box } from "../lib/chart-project";

export interface DrawnLine {
  line: PlotLine;
  colour: string;
  dash: readonly number[];
  /** Drawn stronger and above the others. */
  strong: boolean;
  /** Another line is under the mouse. */
  faded: boolean;
}

export interface LineStyle {
  band: boolean;
  window: Range;
}

/** The order in which lines are laid over each other: the faded below, the strong on top. */
function byWeight(lines: readonly DrawnLine[]): DrawnLine[] {
  const weight = (l: DrawnLine): number => (l.strong ? 2 : l.faded ? 0 : 1) - (l.line.superseded ? 0.5 : 0);
  return [...lines].sort((a, b) => weight(a) - weight(b));
}

/** With more lines than this, bands and raw lines only add fog: lines become thin and sheer, so that density shows. */
const CROWD = 60;

export function drawLines(
  ctx: CanvasRenderingContext2D,
  lines: readonly DrawnLine[],
  at: Projection,
  box: Box,
  style: LineStyle,
): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left - 3, box.top - 2, box.width + 6, box.height + 4);
  ctx.clip();
  ctx.lineJoin = "round";
  ctx.lineCap = "round";
  const ordered = byWeight(lines);
  const crowd = lines.length > CROWD;
  if (style.band && !crowd) for (const line of ordered) drawBand(ctx, line, at, style.window);
  for (const line of ordered) drawLine(ctx, line, at, style.window, crowd);
  ctx.restore();
  drawSigns(ctx, ordered, at, box, style.window);
}

const baseAlpha = (l: DrawnLine): number =>
  (l.faded ? 0.16 : 1) * (l.line.superseded ? 0.45 : 1) * (l.line.rank > 0 ? 0.7 : 1);

function drawBand(ctx: CanvasRenderingContext2D, drawn: DrawnLine, at: Projection, window: Range): void {
  const { line } = drawn;
  ctx.fillStyle = drawn.colour;
  ctx.strokeStyle = drawn.colour;
  ctx.setLineDash([]);
  for (const [from, to] of bandStretches(line, windowOf(line.x, window), at)) {
    const path = new Path2D();
    for (let i = from; i < to; i++) path.lineTo(at.x(line.x[i] as number), at.y(line.high[i] as number));
    for (let i = to - 1; i >= from; i--) path.lineTo(at.x(line.x[i] as number), at.y(line.low[i] as number));
    path.closePath();
    ctx.globalAlpha = 0.15 * baseAlpha(drawn);
    ctx.fill(path);
    // The edge keeps a spike of one step visible, which a filled sliver at 15% would not.
    ctx.globalAlpha = 0.22 * baseAlpha(drawn);
    ctx.lineWidth = 1;
    ctx.stroke(path);
  }
  ctx.globalAlpha = 1;
}

function drawLine(
  ctx: CanvasRenderingContext2D,
  drawn: DrawnLine,
  at: Projection,
  window: Range,
  crowd: boolean,
): void {
  const { line } = drawn;
  const span = windowOf(line.x, window);
  const width = drawn.strong ? 2.25 : crowd ? 1 : 1.5;
  const alpha = baseAlpha(drawn) * (crowd && !drawn.strong ? 0.45 : 1);
  ctx.strokeStyle = drawn.colour;
  ctx.fillStyle = drawn.colour;
  ctx.setLineDash(line.superseded ? [2, 3] : (drawn.dash as number[]));
  const stroke = (ys: Float64Array, alpha: number, lineWidth: number): void => {
    const path = new Path2D();
    const alone = tracePath(path, line.x, ys, span, at);
    ctx.globalAlpha = alpha;
    ctx.lineWidth = lineWidth;
    ctx.stroke(path);
    for (const [x, y] of alone) dot(ctx, x, y, drawn.strong ? 3.5 : 2.5);
  };
  if (line.smooth) {
    if (!crowd) stroke(line.value, 0.22 * alpha, 1);
    stroke(line.smooth, alpha, width);
  } else stroke(line.value, alpha, width);
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
}

export function dot(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, Math.PI * 2);
  ctx.fill();
}

/** NaN is a cross, +Inf a triangle that points up, −Inf one that points down. */
function drawSigns(
  ctx: CanvasRenderingContext2D,
  lines: readonly DrawnLine[],
  at: Projection,
  box: Box,
  window: Range,
): void {
  for (const { kind, line, x, y } of oddSigns(
    lines.map((l) => l.line),
    at,
    box,
    window,
  )) {
    const drawn = lines[line] as DrawnLine;
    ctx.globalAlpha = Math.max(0.3, baseAlpha(drawn));
    ctx.strokeStyle = ctx.fillStyle = drawn.colour;
    ctx.lineWidth = 1.75;
    ctx.beginPath();
    if (kind === "nan") {
      ctx.moveTo(x - 3, y - 3);
      ctx.lineTo(x + 3, y + 3);
      ctx.moveTo(x + 3, y - 3);
      ctx.lineTo(x - 3, y + 3);
      ctx.stroke();
    } else {
      const tip = kind === "posInf" ? -3.5 : 3.5;
      ctx.moveTo(x - 4, y - tip);
      ctx.lineTo(x + 4, y - tip);
      ctx.lineTo(x, y + tip);
      ctx.fill();
    }
  }
  ctx.globalAlpha = 1;
}
