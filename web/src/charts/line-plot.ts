/** One line panel on a canvas. uPlot keeps scales, axes and layout; lines, bands and marks are drawn in its hook. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { HoverRow } from "../lib/chart-hover";
import type { Range } from "../lib/chart-line";
import { type Axes, type Box, projection, xAt } from "../lib/chart-project";
import { type AxisKind, tickLabels, ticks } from "../lib/chart-ticks";
import { type DrawnLine, dot, drawLines } from "./draw-lines";
import { DrawQueue } from "./draw-queue";
import { type Inks, readInks, sharpContext } from "./inks";

export interface Scene {
  lines: readonly DrawnLine[];
  axes: Axes;
  xKind: AxisKind;
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
const Y_SIZE = 48;
const X_SIZE = 26;

const queue = new DrawQueue();
addEventListener("beforeprint", () => queue.flush());

export class LinePlot {
  private plot: uPlot;
  private inks: Inks;
  private readonly overlay: HTMLCanvasElement;
  private scene: Scene;
  /** What the plot was made for. */
  private made: Axes;

  constructor(
    private readonly host: HTMLElement,
    scene: Scene,
    private width: number,
    private height: number,
  ) {
    this.scene = scene;
    this.made = scene.axes;
    this.inks = readInks();
    this.plot = this.make();
    this.overlay = document.createElement("canvas");
    this.overlay.className = "plot-overlay";
    host.append(this.overlay);
  }

  /** The drawing area in CSS pixels, relative to the host. */
  get box(): Box {
    const { left, top, width, height } = this.plot.bbox;
    const ratio = uPlot.pxRatio;
    return { left: left / ratio, top: top / ratio, width: width / ratio, height: height / ratio };
  }

  get canvas(): HTMLCanvasElement {
    queue.now(this);
    return this.plot.ctx.canvas;
  }

  /** The element over the drawing area, for pointer events. */
  get over(): HTMLElement {
    return this.plot.over;
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
    queue.ask(this, () => this.show(), first);
  }

  private show(): void {
    const { logX, logY } = this.scene.axes;
    if (logX === this.made.logX && logY === this.made.logY) return this.rescale();
    this.plot.destroy();
    this.made = this.scene.axes;
    this.plot = this.make();
    this.host.append(this.overlay);
  }

  /** The theme changed. */
  repaint(): void {
    this.inks = readInks();
    this.plot.redraw(false, true);
  }

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.plot.setSize({ width, height });
  }

  /** Shows the box that is being dragged; null takes it away. */
  select(from: number, to: number | null): void {
    const { left, height } = this.box;
    const none = { left: 0, top: 0, width: 0, height: 0 };
    const box = to === null ? none : { left: Math.min(from, to) - left, top: 0, width: Math.abs(to - from), height };
    this.plot.setSelect(box, false);
  }

  /** The crosshair, a dot on each line, and the meant run's line drawn stronger; null clears. */
  hover(now: Crosshair | null): void {
    const ctx = sharpContext(this.overlay, this.width, this.height);
    if (!ctx || now === null) return;
    const box = this.box;
    const at = projection(this.scene.axes, box);
    const px = Math.round(at.x(now.x)) + 0.5;
    if (px < box.left || px > box.left + box.width) return;
    const meant = this.scene.lines.filter((l) => l.line.run === now.run).map((l) => ({ ...l, strong: true, faded: false }));
    drawLines(ctx, meant, at, box, { band: false, window: this.scene.axes.x });
    ctx.strokeStyle = this.inks.quiet;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.7;
    ctx.setLineDash([3, 3]);
    ctx.beginPath();
    ctx.moveTo(px, box.top);
    ctx.lineTo(px, box.top + box.height);
    ctx.stroke();
    ctx.setLineDash([]);
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
    this.plot.destroy();
    this.overlay.remove();
  }

  private rescale(): void {
    const { x, y } = this.scene.axes;
    this.plot.batch(() => {
      this.plot.setScale("x", { min: x[0], max: x[1] });
      this.plot.setScale("y", { min: y[0], max: y[1] });
      this.plot.redraw(false, true);
    });
  }

  private make(): uPlot {
    const plot = new uPlot(this.options(), this.anchors(), this.host);
    this.rescaleOn(plot);
    return plot;
  }

  private rescaleOn(plot: uPlot): void {
    const { x, y } = this.scene.axes;
    plot.setScale("x", { min: x[0], max: x[1] });
    plot.setScale("y", { min: y[0], max: y[1] });
  }

  /** uPlot wants data to size its scales by; two empty points do. */
  private anchors(): uPlot.AlignedData {
    return [[...this.scene.axes.x], [null, null]];
  }

  private options(): uPlot.Options {
    const { axes } = this.scene;
    const range = (pick: (a: Axes) => Range) => (): uPlot.Range.MinMax => [...pick(this.scene.axes)];
    return {
      width: this.width,
      height: this.height,
      padding: [10, 18, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, auto: false, distr: axes.logX ? 3 : 1, range: range((a) => a.x) },
        y: { auto: false, distr: axes.logY ? 3 : 1, range: range((a) => a.y) },
      },
      series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
      axes: [this.axis("x"), this.axis("y")],
      hooks: { draw: [(plot) => this.draw(plot)] },
    };
  }

  private axis(which: "x" | "y"): uPlot.Axis {
    const isX = which === "x";
    const kind = (): AxisKind => (isX ? this.scene.xKind : this.scene.axes.logY ? "log" : "number");
    const room = (plot: uPlot): number => (isX ? plot.bbox.width / uPlot.pxRatio / 84 : plot.bbox.height / uPlot.pxRatio / 28);
    return {
      size: isX ? X_SIZE : Y_SIZE,
      gap: 7,
      font: `11px ${this.inks.font}`,
      stroke: () => this.inks.quiet,
      grid: { show: !isX, stroke: () => this.inks.grid, width: 1 },
      ticks: { show: isX, stroke: () => this.inks.line, width: 1, size: 4 },
      border: { show: isX, stroke: () => this.inks.line, width: 1 },
      splits: (plot) => ticks(...this.scene.axes[which], Math.max(2, room(plot)), kind()),
      values: (_, at) => tickLabels(at, kind()),
      filter: (_, at) => at,
    };
  }

  private draw(plot: uPlot): void {
    const ratio = uPlot.pxRatio;
    const { ctx } = plot;
    ctx.save();
    ctx.scale(ratio, ratio);
    const box = { left: plot.bbox.left / ratio, top: plot.bbox.top / ratio, width: plot.bbox.width / ratio, height: plot.bbox.height / ratio };
    drawLines(ctx, this.scene.lines, projection(this.scene.axes, box), box, { band: this.scene.band, window: this.scene.axes.x });
    if (this.scene.mark !== null && this.scene.mark !== undefined) this.drawMark(ctx, this.scene.mark, box);
    ctx.restore();
    // Says that the lines are on the canvas, not only on their way.
    if (this.scene.lines.length > 0 && this.host.dataset.drawn === undefined) this.host.dataset.drawn = "";
  }

  private drawMark(ctx: CanvasRenderingContext2D, mark: number, box: Box): void {
    const px = Math.round(projection(this.scene.axes, box).x(mark)) + 0.5;
    if (!(px >= box.left && px <= box.left + box.width + 1)) return;
    ctx.strokeStyle = ctx.fillStyle = this.inks.accent;
    ctx.lineWidth = 1;
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    ctx.moveTo(px, box.top);
    ctx.lineTo(px, box.top + box.height);
    ctx.stroke();
    ctx.setLineDash([]);
    const words = `step ${mark.toLocaleString("en-US")}`;
    ctx.font = `11px ${this.inks.font}`;
    ctx.textBaseline = "top";
    const left = px + 4 + ctx.measureText(words).width > box.left + box.width;
    ctx.textAlign = left ? "right" : "left";
    ctx.fillText(words, left ? px - 4 : px + 4, box.top + 1);
  }
}
