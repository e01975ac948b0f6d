/**
 * One line panel on a canvas. Axes, lines, bands and marks are drawn in one go, so that no line ever stands without its
 * scale.
 */

import type { AxesPlan } from "../lib/chart-axes";
import type { HoverRow } from "../lib/chart-hover";
import { type Axes, type Box, projection, xAt } from "../lib/chart-project";
import type { AxisKind } from "../lib/chart-ticks";
import { drawAxes, planFor } from "./axes";
import { type DrawnLine, dot, drawLines } from "./draw-lines";
import { DrawQueue } from "./draw-queue";
import { type Inks, readInks, sharpContext } from "./inks";

export interface Scene {
  lines: readonly DrawnLine[];
  axes: Axes;
  xKind: AxisKind;
  yKind?: AxisKind;
  /** What x is, as it stands under the axis. */
  xName?: string;
  wholeX?: boolean;
  wholeY?: boolean;
  blankY?: boolean;
  band: boolean;
  /** An x that is marked with an upright line. */
  mark?: number | null;
}

/** What the mouse points at, in this panel or in another one over the same x. */
export interface Crosshair {
  x: number;
  rows: readonly HoverRow[];
  /** The row with the larger dot. */
  nearest: string | null;
  /** The run that is meant, if the mouse is near its line. */
  run: string | null;
  colourOf(run: string): string;
}

/** More dots than this hide the lines they stand on. */
const MOST_DOTS = 40;

const queue = new DrawQueue();
addEventListener("beforeprint", () => queue.flush());

export class LinePlot {
  private inks: Inks;
  private readonly picture = layer("plot-picture");
  private readonly overlay = layer("plot-overlay");
  private readonly dragged = document.createElement("div");
  private plan: AxesPlan;
  private pointed = false;

  constructor(
    private readonly host: HTMLElement,
    private scene: Scene,
    private width: number,
    private height: number,
  ) {
    this.inks = readInks();
    this.plan = this.planned();
    this.dragged.className = "plot-dragged";
    this.dragged.hidden = true;
    host.append(this.picture, this.dragged, this.overlay);
    this.draw();
  }

  /** The drawing area in CSS pixels, relative to the host. */
  get box(): Box {
    return this.plan.box;
  }

  get canvas(): HTMLCanvasElement {
    queue.now(this);
    return this.picture;
  }

  /** The x under a pixel of the host. */
  valueAt(px: number): number {
    return xAt(this.scene.axes, this.box, px);
  }

  pixelOfY(value: number): number {
    return projection(this.scene.axes, this.box).y(value);
  }

  /** Shows another scene soon; `first` before other plots that wait. */
  update(scene: Scene, first = false): void {
    this.scene = scene;
    queue.ask(this, () => this.draw(), first);
  }

  /** The theme changed. */
  repaint(): void {
    this.inks = readInks();
    this.draw();
  }

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.draw();
  }

  /** Shows the box that is being dragged; null takes it away. */
  select(from: number, to: number | null): void {
    this.dragged.hidden = to === null;
    if (to === null) return;
    const { top, height } = this.box;
    Object.assign(this.dragged.style, {
      left: `${Math.min(from, to)}px`,
      top: `${top}px`,
      width: `${Math.abs(to - from)}px`,
      height: `${height}px`,
    });
  }

  /** The crosshair, a dot on each line, and the meant run's line drawn stronger; null clears. */
  hover(now: Crosshair | null): void {
    if (now === null && !this.pointed) return; // clearing what is clear would paint the panel again
    this.pointed = now !== null;
    const ctx = sharpContext(this.overlay, this.width, this.height);
    if (!ctx || now === null) return;
    const box = this.box;
    const at = projection(this.scene.axes, box);
    const px = Math.round(at.x(now.x)) + 0.5;
    if (px < box.left || px > box.left + box.width) return;
    const meant = this.scene.lines
      .filter((l) => l.line.run === now.run)
      .map((l) => ({ ...l, strong: true, faded: false }));
    drawLines(ctx, meant, at, box, { band: false, window: this.scene.axes.x });
    ctx.strokeStyle = this.inks.quiet;
    ctx.globalAlpha = 0.7;
    upright(ctx, px, box, [3, 3]);
    ctx.globalAlpha = 1;
    const dotted = now.rows.length > MOST_DOTS ? now.rows.filter((row) => row.id === now.nearest) : now.rows;
    for (const row of dotted) {
      const y = at.y(row.shown);
      if (!(y >= box.top - 3 && y <= box.top + box.height + 3)) continue;
      const big = row.id === now.nearest;
      ctx.fillStyle = this.inks.background;
      dot(ctx, at.x(row.x), y, big ? 5.5 : 3.5);
      ctx.fillStyle = now.colourOf(row.run);
      dot(ctx, at.x(row.x), y, big ? 4 : 2.5);
    }
  }

  destroy(): void {
    queue.drop(this);
    this.picture.remove();
    this.dragged.remove();
    this.overlay.remove();
  }

  private planned(): AxesPlan {
    return planFor(this.scene.axes, this.size, this.scene);
  }

  private get size(): { width: number; height: number } {
    return { width: this.width, height: this.height };
  }

  private draw(): void {
    const ctx = sharpContext(this.picture, this.width, this.height);
    const { lines, axes, band, mark } = this.scene;
    this.plan = this.planned();
    // Without a line there is no range: an axis from 0 to 1 would be nobody's.
    if (!ctx || lines.length === 0) return;
    const { box } = this.plan;
    drawAxes(ctx, this.plan, this.inks);
    drawLines(ctx, lines, projection(axes, box), box, { band, window: axes.x });
    if (mark !== null && mark !== undefined) this.drawMark(ctx, mark, box);
    // Says that the lines are on the canvas, not only on their way.
    if (this.host.dataset.drawn === undefined) this.host.dataset.drawn = "";
  }

  private drawMark(ctx: CanvasRenderingContext2D, mark: number, box: Box): void {
    const px = Math.round(projection(this.scene.axes, box).x(mark)) + 0.5;
    if (!(px >= box.left && px <= box.left + box.width + 1)) return;
    ctx.strokeStyle = ctx.fillStyle = this.inks.accent;
    upright(ctx, px, box, [4, 3]);
    const words = `step ${mark.toLocaleString("en-US")}`;
    ctx.font = `11px ${this.inks.font}`;
    ctx.textBaseline = "top";
    const left = px + 4 + ctx.measureText(words).width > box.left + box.width;
    ctx.textAlign = left ? "right" : "left";
    ctx.fillText(words, left ? px - 4 : px + 4, box.top + 1);
  }
}

function layer(name: string): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.className = name;
  return canvas;
}

function upright(ctx: CanvasRenderingContext2D, px: number, box: Box, dash: number[]): void {
  ctx.lineWidth = 1;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(px, box.top);
  ctx.lineTo(px, box.top + box.height);
  ctx.stroke();
  ctx.setLineDash([]);
}
