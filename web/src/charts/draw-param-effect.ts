/** A metric over one parameter: the runs as dots, what the model expects as a line (or as bars for names). */

import type { Box } from "../lib/chart-project";
import { visibleText } from "../lib/format";
import { type ParamScale, uprightTicks } from "../lib/param-scale";
import type { ParamColumn } from "../lib/param-table";
import type { Effect } from "../lib/schema";
import { type Dim, drawPoints, pixelsOf, type ScatterPaint } from "./draw-scatter";
import type { Inks } from "./inks";

/** Where an effect's points lie on the plot's places: x by the parameter's scale, y by the metric's. */
function effectPlaces(effect: Effect, x: ParamScale, y: ParamScale): { x: number; y: number }[] {
  return effect.x
    .map((value, at) => ({ x: x.place(value), y: y.place(effect.y[at] as number) }))
    .filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y));
}

/** The small picture of a row: only the line, over its own range, so that its shape can be seen. */
export function drawSmallEffect(
  ctx: CanvasRenderingContext2D,
  effect: Effect,
  scale: ParamScale,
  isNames: boolean,
  ends: readonly [number, number],
  size: { width: number; height: number },
  inks: Inks,
): void {
  const [low, high] = ends;
  const box = { left: 4, top: 5, width: size.width - 8, height: size.height - 10 };
  const yAt = (value: number) => box.top + box.height - (high > low ? (value - low) / (high - low) : 0.5) * box.height;
  ctx.strokeStyle = inks.accent;
  ctx.fillStyle = inks.accent;
  ctx.lineWidth = 1.75;
  ctx.lineJoin = "round";
  ctx.beginPath();
  effect.x.forEach((value, at) => {
    const x = box.left + scale.place(value) * box.width;
    const y = yAt(effect.y[at] as number);
    if (isNames) ctx.fillRect(x - 5, y - 1.25, 10, 2.5);
    else if (at === 0) ctx.moveTo(x, y);
    else ctx.lineTo(x, y);
  });
  if (!isNames) ctx.stroke();
}

export function drawEffect(
  ctx: CanvasRenderingContext2D,
  x: Dim,
  y: Dim,
  effect: Effect | null,
  box: Box,
  paint: ScatterPaint,
  inks: Inks,
): void {
  ctx.font = `11px ${inks.font}`;
  ctx.strokeStyle = inks.grid;
  ctx.lineWidth = 1;
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const at = pixelsOf(box);
  for (const tick of uprightTicks(y.scale, box.height)) {
    const py = Math.round(at.y(tick.place)) + 0.5;
    line(ctx, box.left, py, box.left + box.width, py);
    ctx.fillText(tick.label, box.left - 8, py, box.left - 10);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const tick of x.scale.ticks(box.width / 72))
    ctx.fillText(
      tick.label.length > 12 ? `${tick.label.slice(0, 11)}…` : tick.label,
      at.x(tick.place),
      box.top + box.height + 8,
      72,
    );
  ctx.fillStyle = inks.text;
  ctx.fillText(visibleText(x.column.label), box.left + box.width / 2, box.top + box.height + 26, box.width);
  drawPoints(ctx, x, y, box, paint, inks, 3);
  if (effect) drawExpected(ctx, x.column, effectPlaces(effect, x.scale, y.scale), at, box, inks);
}

function drawExpected(
  ctx: CanvasRenderingContext2D,
  column: ParamColumn,
  points: readonly { x: number; y: number }[],
  at: ReturnType<typeof pixelsOf>,
  box: Box,
  inks: Inks,
): void {
  ctx.lineJoin = "round";
  for (const [style, width] of [
    [inks.background, 6],
    [inks.text, 2.5],
  ] as const) {
    // prettier-ignore
    ctx.strokeStyle = style;
    ctx.lineWidth = width;
    ctx.beginPath();
    if (column.kind === "number")
      points.forEach((point, index) =>
        index ? ctx.lineTo(at.x(point.x), at.y(point.y)) : ctx.moveTo(at.x(point.x), at.y(point.y)),
      );
    else {
      const half = (0.36 * box.width) / Math.max(1, column.names.length);
      for (const point of points) {
        ctx.moveTo(at.x(point.x) - half, at.y(point.y));
        ctx.lineTo(at.x(point.x) + half, at.y(point.y));
      }
    }
    ctx.stroke();
  }
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
