/** Draws the timeline: blocks as one image, words over it; and in a second canvas what moves with the pointer. */

import type { Camera } from "../lib/timeline-camera";
import { levelOf, tilesOf, tileWidth } from "../lib/timeline-camera";
import { mixed, pixel } from "../lib/timeline-inks";
import { fillRows, type Label, type Paint, paintLine, type Picture } from "../lib/timeline-paint";
import { type LaneRow, LINE, PAD, type Row, rowsIn } from "../lib/timeline-rows";
import { rulerTicks } from "../lib/timeline-ruler";
import type { TileStore } from "../lib/timeline-store";
import { type Inks, rgb } from "./inks";
import { WordCutter } from "./words";

export interface DrawnSource {
  store: TileStore;
  names: readonly string[];
  /** Added to its times to come to the common axis. */
  offset: number;
  span: number;
  tile: number;
  paint: Paint;
}

export interface Scene {
  camera: Camera;
  scroll: number;
  width: number;
  height: number;
  rows: readonly Row[];
  sources: readonly DrawnSource[];
}

const WORDY_CSS = 26;
const MOST_WORDS = 1200;
export const RULER = 28;

export class BlockPainter {
  private image: ImageData | null = null;
  private readonly words = new WordCutter();

  /** Draws all blocks of the scene; rows begin below the ruler. */
  draw(canvas: HTMLCanvasElement, scene: Scene, inks: Inks): void {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [
      Math.max(1, Math.round(scene.width * ratio)),
      Math.max(1, Math.round(scene.height * ratio)),
    ];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const ctx = canvas.getContext("2d", { alpha: false });
    if (!ctx) return;
    if (this.image?.width !== width || this.image.height !== height) this.image = ctx.createImageData(width, height);
    const picture: Picture = { pixels: new Uint32Array(this.image.data.buffer), width, height };
    const words: { labels: Label[]; names: readonly string[] }[] = [];
    picture.pixels.fill(pixelOf(inks.background));
    for (const row of rowsIn(scene.rows, scene.scroll, scene.scroll + scene.height)) {
      if (row.kind === "head") {
        fillRows(
          picture,
          Math.round((row.top - scene.scroll) * ratio),
          Math.round(row.height * ratio),
          mixed(pixelOf(inks.background), pixelOf(inks.grid), 130),
        );
        continue;
      }
      const source = scene.sources[row.source];
      if (!source) continue;
      const labels: Label[] = [];
      paintLane(picture, scene, row, source, ratio, labels);
      words.push({ labels, names: source.names });
      fillRows(picture, Math.round((row.top + row.height - scene.scroll) * ratio) - 1, 1, pixelOf(inks.grid));
    }
    ctx.putImageData(this.image, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.write(ctx, words, ratio, inks);
  }

  private write(
    ctx: CanvasRenderingContext2D,
    words: readonly { labels: Label[]; names: readonly string[] }[],
    ratio: number,
    inks: Inks,
  ): void {
    ctx.font = `11px ${inks.font}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    this.words.use(ctx);
    let left = MOST_WORDS;
    for (const { labels, names } of words) {
      for (const label of labels) {
        if (left-- <= 0) return;
        const room = label.width / ratio - 8;
        const name = names[label.name] ?? "…";
        const text = this.words.cut(label.count > 1 ? `${label.count} × ${name}` : name, room);
        ctx.fillStyle = label.lit ? inks.text : inks.quiet;
        if (text) ctx.fillText(text, label.x / ratio + 5, label.y / ratio + (LINE - 1) / 2 + 0.5);
      }
    }
  }
}

function pixelOf(colour: string): number {
  const [r = 0, g = 0, b = 0] = rgb(colour);
  return pixel([r, g, b]);
}

function paintLane(
  picture: Picture,
  scene: Scene,
  row: LaneRow,
  source: DrawnSource,
  ratio: number,
  labels: Label[],
): void {
  const { camera } = scene;
  const begin = camera.begin - source.offset;
  const frame = { begin, scale: camera.scale / ratio };
  const level = levelOf(camera.scale, ratio);
  const span = tilesOf(begin, begin + camera.scale * scene.width, level, source.tile, source.span);
  const width = tileWidth(level, source.tile);
  for (let index = span.first; index <= span.last; index++) {
    const found = source.store.best(level, index, row.lane.id);
    if (!found) continue;
    const from = index === span.first ? 0 : Math.max(0, Math.floor((index * width - begin) / frame.scale));
    const to =
      index === span.last
        ? picture.width
        : Math.min(picture.width, Math.floor(((index + 1) * width - begin) / frame.scale));
    for (let line = 0; line < row.lines; line++) {
      const top = Math.round((row.top + PAD + line * LINE - scene.scroll) * ratio);
      const height = Math.round((row.top + PAD + (line + 1) * LINE - 1 - scene.scroll) * ratio) - top;
      paintLine(
        picture,
        { tile: found.tile, depth: row.first + line, top, height, from, to, first: index === span.first },
        frame,
        source.paint,
        labels,
        WORDY_CSS * ratio,
      );
    }
  }
}

export interface Arrowed {
  fromX: number;
  fromY: number;
  toX: number;
  toY: number;
}

export interface Overlay {
  width: number;
  height: number;
  hovered: Box | null;
  chosen: Box | null;
  arrows: readonly Arrowed[];
  /** From and to, in pixels. */
  range: readonly [number, number] | null;
  steps: readonly { x: number; label: string }[];
  /** The pointer's time. */
  crosshair: number | null;
  lanesTop: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What lies over the blocks. Cheap: drawn anew whenever the pointer moves. */
export function drawOverlay(ctx: CanvasRenderingContext2D, over: Overlay, inks: Inks): void {
  ctx.lineWidth = 1;
  for (const step of over.steps) {
    ctx.strokeStyle = withAlpha(inks.accent, 0.35);
    line(ctx, step.x, over.lanesTop, step.x, over.height);
  }
  if (over.range) {
    const [from, to] = over.range;
    ctx.fillStyle = withAlpha(inks.accent, 0.12);
    ctx.fillRect(from, over.lanesTop, to - from, over.height);
    ctx.strokeStyle = inks.accent;
    line(ctx, from, over.lanesTop, from, over.height);
    line(ctx, to, over.lanesTop, to, over.height);
  }
  if (over.crosshair !== null) {
    ctx.strokeStyle = withAlpha(inks.text, 0.25);
    line(ctx, over.crosshair, over.lanesTop, over.crosshair, over.height);
  }
  for (const arrow of over.arrows) drawArrow(ctx, arrow, inks.accent);
  if (over.hovered) outline(ctx, over.hovered, withAlpha(inks.text, 0.55), 1);
  if (over.chosen) outline(ctx, over.chosen, inks.accent, 2);
}

function outline(ctx: CanvasRenderingContext2D, box: Box, colour: string, width: number): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  const x = Math.max(-4, box.x);
  const right = Math.min(box.x + box.width, ctx.canvas.width + 4);
  ctx.strokeRect(x, box.y + 0.5, Math.max(2, right - x), box.height - 1);
}

function drawArrow(ctx: CanvasRenderingContext2D, { fromX, fromY, toX, toY }: Arrowed, colour: string): void {
  const bend = Math.max(24, Math.min(120, Math.abs(toX - fromX) / 2));
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 1.4;
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.bezierCurveTo(fromX + bend, fromY, toX - bend, toY, toX - 5, toY);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(toX, toY);
  ctx.lineTo(toX - 7, toY - 3.5);
  ctx.lineTo(toX - 7, toY + 3.5);
  ctx.fill();
}

export interface RulerScene {
  camera: Camera;
  width: number;
  /** What is called 0. */
  zero: number;
  steps: readonly { x: number; width: number; label: string }[];
  /** How many hits of a search are in each of equal stretches of the screen. */
  marks: readonly number[];
}

/** The ruler over the lanes: time, steps, and where a search has hits. */
export function drawRuler(ctx: CanvasRenderingContext2D, scene: RulerScene, inks: Inks): void {
  const { camera, width, zero } = scene;
  ctx.fillStyle = inks.background;
  ctx.fillRect(0, 0, width, RULER);
  const begin = camera.begin - zero;
  const { ticks, from } = rulerTicks(begin, begin + width * camera.scale, width / 110);
  ctx.font = `11px ${inks.font}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const tick of ticks) {
    const x = Math.round((tick.at - begin) / camera.scale) + 0.5;
    ctx.strokeStyle = inks.line;
    line(ctx, x, RULER - 8, x, RULER);
    ctx.fillStyle = inks.quiet;
    if ((from === "" || x > 96) && x + 4 + ctx.measureText(tick.label).width <= width)
      ctx.fillText(tick.label, x + 4, RULER - 7);
  }
  ctx.fillStyle = inks.text;
  if (from) ctx.fillText(from, 6, RULER - 7);
  for (const step of scene.steps) drawStep(ctx, step, inks);
  scene.marks.forEach((hits, at) => {
    if (hits === 0) return;
    ctx.fillStyle = inks.accent;
    const w = width / scene.marks.length;
    ctx.fillRect(at * w, RULER - 3, Math.max(1.5, w), 3);
  });
  ctx.strokeStyle = inks.line;
  line(ctx, 0, RULER - 0.5, width, RULER - 0.5);
}

function drawStep(ctx: CanvasRenderingContext2D, step: { x: number; width: number; label: string }, inks: Inks): void {
  const x = Math.max(0, step.x);
  const room = Math.min(step.x + step.width, ctx.canvas.width) - x;
  ctx.fillStyle = withAlpha(inks.accent, 0.16);
  ctx.fillRect(x, 0, Math.max(1, room - 1), 13);
  if (room < 30) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, 0, room - 3, 13);
  ctx.clip();
  ctx.fillStyle = inks.accent;
  ctx.font = `600 10px ${inks.font}`;
  ctx.fillText(step.label, x + 5, 7);
  ctx.restore();
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** A colour of the page, thinned. */
function withAlpha(colour: string, alpha: number): string {
  return `rgb(${rgb(colour).join(" ")} / ${alpha})`;
}
