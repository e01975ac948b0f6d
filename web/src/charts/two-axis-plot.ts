/** Lines of several metrics in one plot, with an axis on the left and one on the right. Gets arrays; draws on two canvases. */

import { hoverRows, type HoverRow } from "../lib/chart-hover";
import type { Range } from "../lib/chart-line";
import { type Axes, type Box, projection, xAt } from "../lib/chart-project";
import { type AxisKind, tickLabels, ticks } from "../lib/chart-ticks";
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

const PAD = 8;
const X_ROOM = 36;

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
    ctx.font = `11px ${inks.font}`;
    const tall = Math.max(20, this.height - X_ROOM - PAD);
    const marks = this.sides().map((side) => this.yMarks(side, tall));
    const room = marks.map(({ labels }) => Math.ceil(Math.max(0, ...labels.map((text) => ctx.measureText(text).width))) + 14);
    const left = Math.max(28, room[0] ?? 0);
    const right = this.scene.right ? Math.max(28, room[1] ?? 0) : 16;
    this.box = { left, top: PAD, width: Math.max(20, this.width - left - right), height: tall };
    this.drawAxes(ctx, marks, inks);
    for (const side of this.sides()) drawLines(ctx, side.lines, projection(this.axes(side), this.box), this.box, { band: true, window: this.scene.x });
    if (this.sides().some((side) => side.lines.length > 0)) this.host.dataset.drawn = "";
  }

  private yMarks(side: Side, tall: number): { at: number[]; labels: string[] } {
    const kind = this.scene.log ? "log" : "number";
    const at = ticks(...side.y, Math.max(2, tall / 28), kind);
    return { at, labels: tickLabels(at, kind) };
  }

  private drawAxes(ctx: CanvasRenderingContext2D, marks: { at: number[]; labels: string[] }[], inks: Inks): void {
    const { left, top, width, height } = this.box;
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    this.sides().forEach((side, n) => {
      const y = projection(this.axes(side), this.box).y;
      ctx.textAlign = n === 0 ? "right" : "left";
      marks[n]?.at.forEach((value, i) => {
        const py = Math.round(y(value)) + 0.5;
        ctx.strokeStyle = inks.grid;
        if (n === 0) line(ctx, left, py, left + width, py);
        ctx.fillStyle = inks.quiet;
        ctx.fillText(marks[n]?.labels[i] ?? "", n === 0 ? left - 7 : left + width + 7, py);
      });
    });
    this.drawX(ctx, inks);
    if (this.scene.right) {
      ctx.strokeStyle = inks.line;
      line(ctx, left + width + 0.5, top, left + width + 0.5, top + height);
    }
  }

  private drawX(ctx: CanvasRenderingContext2D, inks: Inks): void {
    const { left, top, width, height } = this.box;
    const floor = top + height + 0.5;
    const x = projection(this.axes(this.scene.left), this.box).x;
    const at = ticks(...this.scene.x, Math.max(2, width / 84), this.scene.xKind);
    const labels = tickLabels(at, this.scene.xKind);
    ctx.strokeStyle = inks.line;
    line(ctx, left, floor, left + width, floor);
    ctx.fillStyle = inks.quiet;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    at.forEach((value, i) => {
      const px = Math.round(x(value)) + 0.5;
      line(ctx, px, floor, px, floor + 4);
      const half = ctx.measureText(labels[i] ?? "").width / 2;
      ctx.fillText(labels[i] ?? "", Math.min(Math.max(px, half), this.width - half), floor + 7);
    });
    ctx.fillText(this.scene.xName, left + width / 2, floor + 21, width);
  }
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
