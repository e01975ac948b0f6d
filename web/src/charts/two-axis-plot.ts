/**
 * Lines of several metrics in one plot, with an axis on the left and one on the right. Gets arrays; draws on two
 * canvases.
 */

import { hoverRows, type HoverRow } from "../lib/chart-hover";
import type { Range } from "../lib/chart-line";
import { type Axes, type Box, projection, xAt } from "../lib/chart-project";
import type { AxisKind } from "../lib/chart-ticks";
import { drawAxes, planFor } from "./axes";
import { type DrawnLine, dot, drawLines } from "./draw-lines";
import { type Inks, readInks, sharpContext } from "./inks";

export interface Side {
  lines: readonly DrawnLine[];
  y: Range;
}

export interface TwoAxisScene {
  x: Range;
  xKind: AxisKind;
  xName: string;
  log: boolean;
  left: Side;
  /** Null: one axis is enough. */
  right: Side | null;
}

/** A line's value under the pointer. */
export interface TwoAxisRow extends HoverRow {
  drawn: DrawnLine;
}

export class TwoAxisPlot {
  private readonly base = document.createElement("canvas");
  private readonly overlay = document.createElement("canvas");
  private readonly rubber = document.createElement("div");
  box: Box = { left: 0, top: 0, width: 1, height: 1 };

  constructor(
    private readonly host: HTMLElement,
    private scene: TwoAxisScene,
    private width: number,
    private height: number,
  ) {
    this.base.className = "plot-picture";
    this.overlay.className = "plot-overlay";
    this.rubber.className = "plot-dragged";
    host.append(this.base, this.overlay, this.rubber);
    this.draw();
  }

  update(scene: TwoAxisScene, width: number, height: number): void {
    this.scene = scene;
    this.width = width;
    this.height = height;
    this.draw();
  }

  destroy(): void {
    for (const part of [this.base, this.overlay, this.rubber]) part.remove();
  }

  valueAt(px: number): number {
    return xAt(this.axes(this.scene.left), this.box, px);
  }

  select(from: number, to: number | null): void {
    const { style } = this.rubber;
    style.display = to === null ? "none" : "block";
    if (to === null) return;
    style.left = `${Math.min(from, to)}px`;
    style.width = `${Math.abs(to - from)}px`;
    style.top = `${this.box.top}px`;
    style.height = `${this.box.height}px`;
  }

  /** The crosshair with a dot on each line; what it met, left axis first. */
  hover(x: number | null): TwoAxisRow[] {
    const ctx = sharpContext(this.overlay, this.width, this.height);
    if (!ctx || x === null) return [];
    const inks = readInks();
    const { left, top, width, height } = this.box;
    const px = Math.round(projection(this.axes(this.scene.left), this.box).x(x)) + 0.5;
    if (px < left || px > left + width) return [];
    ctx.strokeStyle = inks.quiet;
    ctx.setLineDash([3, 3]);
    line(ctx, px, top, px, top + height);
    return this.sides().flatMap((side) => this.dots(ctx, side, x, inks));
  }

  private dots(ctx: CanvasRenderingContext2D, side: Side, x: number, inks: Inks): TwoAxisRow[] {
    const at = projection(this.axes(side), this.box);
    return side.lines.flatMap((drawn) =>
      hoverRows([drawn.line], x, this.scene.x).map((row) => {
        const y = at.y(row.shown);
        if (y >= this.box.top - 3 && y <= this.box.top + this.box.height + 3) {
          ctx.fillStyle = inks.background;
          dot(ctx, at.x(row.x), y, 4);
          ctx.fillStyle = drawn.colour;
          dot(ctx, at.x(row.x), y, 3);
        }
        return { ...row, drawn };
      }),
    );
  }

  private sides(): Side[] {
    return this.scene.right ? [this.scene.left, this.scene.right] : [this.scene.left];
  }

  private axes(side: Side): Axes {
    return { x: this.scene.x, y: side.y, logX: false, logY: this.scene.log };
  }

  private draw(): void {
    const ctx = sharpContext(this.base, this.width, this.height);
    if (!ctx) return;
    const inks = readInks();
    const { left, right, xKind, xName } = this.scene;
    const size = { width: this.width, height: this.height };
    const plan = planFor(this.axes(left), size, { xKind, xName, right: right?.y ?? null });
    this.box = plan.box;
    drawAxes(ctx, plan, inks);
    for (const side of this.sides())
      drawLines(ctx, side.lines, projection(this.axes(side), this.box), this.box, { band: true, window: this.scene.x });
    if (this.sides().some((side) => side.lines.length > 0)) this.host.dataset.drawn = "";
  }
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
