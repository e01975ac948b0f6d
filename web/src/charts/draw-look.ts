/**
 * A picture in a pane, at a place and scale: crisp pixels when it is large, a grid between them when it is very large.
 */

import { type Camera, placed, type Size } from "../lib/look-camera";

const GRID_FROM = 14;

export interface LookOptions {
  camera: Camera;
  /** The part under the pointer, in any of the panes. */
  spot: { u: number; v: number } | null;
  accent: string;
  /** Only the columns of the pane between these are drawn: a wipe shows two pictures beside each other. */
  from?: number;
  to?: number;
}

export function drawLook(
  ctx: CanvasRenderingContext2D,
  image: HTMLCanvasElement,
  pane: Size,
  options: LookOptions,
): void {
  const { left, top, scale } = placed(options.camera, image, pane);
  ctx.save();
  ctx.beginPath();
  ctx.rect(options.from ?? 0, 0, (options.to ?? pane.width) - (options.from ?? 0), pane.height);
  ctx.clip();
  ctx.imageSmoothingEnabled = scale < 1;
  ctx.imageSmoothingQuality = "high";
  ctx.drawImage(image, left, top, image.width * scale, image.height * scale);
  if (scale >= GRID_FROM) drawGrid(ctx, image, pane, left, top, scale);
  if (options.spot) drawSpot(ctx, image, { left, top, scale }, options.spot, options.accent);
  ctx.restore();
}

function drawGrid(
  ctx: CanvasRenderingContext2D,
  image: Size,
  pane: Size,
  left: number,
  top: number,
  scale: number,
): void {
  ctx.strokeStyle = "rgb(128 128 128 / 45%)";
  ctx.lineWidth = 1;
  ctx.beginPath();
  const first = (from: number) => Math.max(0, Math.floor(-from / scale));
  for (let x = first(left); x <= image.width && left + x * scale <= pane.width; x++) {
    const at = Math.round(left + x * scale) + 0.5;
    ctx.moveTo(at, Math.max(0, top));
    ctx.lineTo(at, Math.min(pane.height, top + image.height * scale));
  }
  for (let y = first(top); y <= image.height && top + y * scale <= pane.height; y++) {
    const at = Math.round(top + y * scale) + 0.5;
    ctx.moveTo(Math.max(0, left), at);
    ctx.lineTo(Math.min(pane.width, left + image.width * scale), at);
  }
  ctx.stroke();
}

/** A frame around the pixel that is read, the same in every pane. */
function drawSpot(
  ctx: CanvasRenderingContext2D,
  image: Size,
  at: { left: number; top: number; scale: number },
  spot: { u: number; v: number },
  accent: string,
): void {
  if (spot.u < 0 || spot.v < 0 || spot.u >= 1 || spot.v >= 1) return;
  const size = Math.max(5, at.scale);
  const x = at.left + (Math.floor(spot.u * image.width) + 0.5) * at.scale - size / 2;
  const y = at.top + (Math.floor(spot.v * image.height) + 0.5) * at.scale - size / 2;
  ctx.lineWidth = 3;
  ctx.strokeStyle = "rgb(0 0 0 / 70%)";
  ctx.strokeRect(x, y, size, size);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = accent;
  ctx.strokeRect(x, y, size, size);
}
