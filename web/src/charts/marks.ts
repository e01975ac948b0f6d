/** The shapes of points: a colour is used again with another one. */

import type { Shape } from "../lib/class-inks";

/** Adds one mark to the path, each of about the area of the circle. */
export function addMark(ctx: CanvasRenderingContext2D, shape: Shape, x: number, y: number, radius: number): void {
  if (shape === "square") {
    const half = radius * 0.9;
    ctx.rect(x - half, y - half, 2 * half, 2 * half);
  } else if (shape === "triangle") {
    const [wide, tall] = [radius * 1.25, radius * 1.3];
    ctx.moveTo(x, y - tall);
    ctx.lineTo(x + wide, y + tall * 0.7);
    ctx.lineTo(x - wide, y + tall * 0.7);
    ctx.closePath();
  } else {
    ctx.moveTo(x + radius, y);
    ctx.arc(x, y, radius, 0, Math.PI * 2);
  }
}
