/** Draws a call tree: an image of its rows, words over it. */

import { paintNodes, type IciclePaint, type IcicleView, type NodeLabel } from "../lib/icicle-paint";
import type { Tree } from "../lib/icicle-tree";
import { fillRows, type Picture } from "../lib/timeline-paint";
import type { Inks } from "./inks";
import { WordCutter } from "./words";

export const FRAME_ROW = 20;

export interface IcicleScene {
  tree: Tree;
  view: IcicleView;
  /** Pixels above the first row that is on the screen. */
  scroll: number;
  width: number;
  height: number;
  /** Roots stand at the bottom, as in a flame graph. */
  flame: boolean;
  paint: IciclePaint;
  /** What stands in a node. */
  words(node: number): string;
}

/** The top of a row on the screen. */
export function rowTop(scene: Pick<IcicleScene, "flame" | "height" | "scroll">, depth: number): number {
  return scene.flame ? scene.height - (depth + 1) * FRAME_ROW + scene.scroll : depth * FRAME_ROW - scene.scroll;
}

export class IciclePainter {
  private image: ImageData | null = null;
  private readonly words = new WordCutter();

  draw(canvas: HTMLCanvasElement, scene: IcicleScene, inks: Inks): void {
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
    fillRows(picture, 0, height, scene.paint.background);
    const labels: NodeLabel[] = [];
    for (let depth = 0; depth < scene.tree.rows.length; depth++) {
      const top = rowTop(scene, depth);
      if (top + FRAME_ROW < 0 || top > scene.height) continue;
      const from = Math.round(top * ratio);
      paintNodes(
        picture,
        scene.tree,
        depth,
        from,
        Math.round((top + FRAME_ROW - 1) * ratio) - from,
        scene.view,
        scene.paint,
        labels,
        30 * ratio,
      );
    }
    ctx.putImageData(this.image, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.write(ctx, labels, scene, ratio, inks);
  }

  private write(
    ctx: CanvasRenderingContext2D,
    labels: readonly NodeLabel[],
    scene: IcicleScene,
    ratio: number,
    inks: Inks,
  ): void {
    ctx.font = `11px ${inks.font}`;
    ctx.textBaseline = "middle";
    this.words.use(ctx);
    for (const label of labels.slice(0, 1500)) {
      ctx.fillStyle = label.lit ? inks.text : inks.quiet;
      const text = this.words.cut(scene.words(label.node), label.width / ratio - 9);
      if (text) ctx.fillText(text, label.x / ratio + 5, label.y / ratio + (FRAME_ROW - 1) / 2 + 0.5);
    }
  }
}

export interface FrameBox {
  x: number;
  y: number;
  width: number;
}

/** The outlines of what the pointer is on and of what is chosen. */
export function drawFrames(
  ctx: CanvasRenderingContext2D,
  hovered: FrameBox | null,
  chosen: FrameBox | null,
  inks: Inks,
): void {
  for (const [box, colour, thick] of [
    [hovered, inks.quiet, 1],
    [chosen, inks.accent, 2],
  ] as const) {
    if (!box) continue;
    ctx.strokeStyle = colour;
    ctx.lineWidth = thick;
    ctx.strokeRect(Math.max(0.5, box.x), box.y + 0.5, Math.max(2, box.width), FRAME_ROW - 2);
  }
}
