/** Thousands of points at once, the far ones paler; a few of them marked. */

import type { Shape } from "../lib/class-inks";
import type { Screen } from "../lib/projector";
import type { Inks } from "./inks";
import { addMark } from "./marks";

export interface CloudLook {
  colours: readonly string[];
  /** One for each point; empty when all are circles. */
  shapes: readonly Shape[];
  /** Only these are in full colour; null for all. */
  strong: ReadonlySet<number> | null;
  /** Ringed: the nearest to the chosen one. */
  near: readonly number[];
  chosen: number;
  hovered: number;
  deep: boolean;
}

export function drawCloud(
  ctx: CanvasRenderingContext2D,
  screen: Screen,
  size: { width: number; height: number },
  inks: Inks,
  look: CloudLook,
): void {
  const count = screen.x.length;
  const radius = count > 4000 ? 1.6 : count > 1000 ? 2.2 : 3;
  const order = look.deep
    ? Uint32Array.from({ length: count }, (_, i) => i).sort(
        (a, b) => (screen.near[a] as number) - (screen.near[b] as number),
      )
    : null;
  for (const pass of look.strong ? ["weak", "strong"] : ["strong"]) {
    for (let k = 0; k < count; k++) {
      const i = order ? (order[k] as number) : k;
      if (look.strong && look.strong.has(i) !== (pass === "strong")) continue;
      const [x, y] = [screen.x[i] as number, screen.y[i] as number];
      if (x < -4 || y < -4 || x > size.width + 4 || y > size.height + 4) continue;
      const near = look.deep ? (screen.near[i] as number) : 1;
      ctx.globalAlpha = pass === "weak" ? 0.12 : 0.45 + 0.47 * near;
      ctx.fillStyle = look.colours[i] ?? inks.accent;
      ctx.beginPath();
      addMark(ctx, look.shapes[i] ?? "circle", x, y, radius * (look.deep ? 0.7 + 0.6 * near : 1));
      ctx.fill();
    }
  }
  ctx.globalAlpha = 1;
  for (const i of look.near) ring(ctx, screen, i, radius + 3, inks.text, 1);
  if (look.chosen >= 0) ring(ctx, screen, look.chosen, radius + 5, inks.text, 2);
  if (look.hovered >= 0) ring(ctx, screen, look.hovered, radius + 4, inks.accent, 1.5);
}

function ring(
  ctx: CanvasRenderingContext2D,
  screen: Screen,
  i: number,
  radius: number,
  colour: string,
  width: number,
): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.beginPath();
  ctx.arc(screen.x[i] as number, screen.y[i] as number, radius, 0, Math.PI * 2);
  ctx.stroke();
}
