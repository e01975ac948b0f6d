/**
 * Draws what `planAxes` planned: the grid, the base line, the ticks and their labels. One look for every chart with two
 * axes.
 */

import { type AxesOptions, type AxesPlan, fitted, type Measure, planAxes } from "../lib/chart-axes";
import type { Axes } from "../lib/chart-project";
import type { Inks } from "./inks";

const AXIS_PX = 11;

let scratch: CanvasRenderingContext2D | null = null;
const widths = new Map<string, number>();
let widthsOf = "";
const MOST_WIDTHS = 4000;

/** Measures labels in the font of the axes, without a canvas on the page; a width is measured once. */
function measureIn(font: string): Measure {
  return (label) => {
    if (widthsOf !== font || widths.size > MOST_WIDTHS) widths.clear();
    widthsOf = font;
    const known = widths.get(label);
    if (known !== undefined) return known;
    scratch ??= document.createElement("canvas").getContext("2d");
    if (!scratch) return label.length * 6.5;
    scratch.font = `${AXIS_PX}px ${font}`;
    const { width } = scratch.measureText(label);
    widths.set(label, width);
    return width;
  };
}

let family = "";

/** The plan of a chart on this page; the page has one font, whatever the theme. */
export function planFor(axes: Axes, size: { width: number; height: number }, options: AxesOptions = {}): AxesPlan {
  family ||= getComputedStyle(document.body).fontFamily;
  return planAxes(axes, size, options, measureIn(family));
}

export interface AxesLook {
  /** Lines across the picture at the ticks of y, or upright ones at those of x. */
  grid?: "across" | "upright" | "none";
  /** The labels of y are drawn by somebody else. */
  withoutY?: boolean;
  names?: boolean;
}

/** Grid and labels; to be drawn before the data, so that lines lie over the grid. */
export function drawAxes(ctx: CanvasRenderingContext2D, plan: AxesPlan, inks: Inks, look: AxesLook = {}): void {
  const { box } = plan;
  const floor = box.top + box.height;
  const { grid = "across" } = look;
  ctx.save();
  ctx.font = `${AXIS_PX}px ${inks.font}`;
  ctx.lineWidth = 1;
  ctx.setLineDash([]);
  ctx.fillStyle = inks.quiet;
  ctx.strokeStyle = inks.grid;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const { px, text } of look.withoutY ? [] : plan.y) {
    const y = Math.round(px) + 0.5;
    if (grid === "across") segment(ctx, box.left, y, box.left + box.width, y);
    ctx.fillText(text, box.left - 7, y);
  }
  if (grid === "upright")
    for (const { px } of plan.x) segment(ctx, Math.round(px) + 0.5, box.top, Math.round(px) + 0.5, floor);
  ctx.textAlign = "left";
  const edge = box.left + box.width;
  for (const { px, text } of plan.right) ctx.fillText(text, edge + 7, Math.round(px) + 0.5);
  ctx.strokeStyle = inks.line;
  if (plan.right.length > 0) segment(ctx, edge + 0.5, box.top, edge + 0.5, floor);
  segment(ctx, box.left, floor + 0.5, box.left + box.width, floor + 0.5);
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const most = look.names ? box.width / Math.max(1, plan.x.length) - 4 : Number.POSITIVE_INFINITY;
  for (const { px, text } of plan.x) {
    segment(ctx, Math.round(px) + 0.5, floor, Math.round(px) + 0.5, floor + 4);
    ctx.fillText(look.names ? fitted(text, most, measureIn(inks.font)) : text, px, floor + 8);
  }
  if (plan.xName)
    ctx.fillText(fitted(plan.xName, box.width, measureIn(inks.font)), box.left + box.width / 2, floor + 22);
  ctx.restore();
}

function segment(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
