/** A row of the icicle as pixels; what is narrower than a pixel costs nothing to draw and is still seen. */

import { lastFrom, type Tree } from "./icicle-tree";
import { mixed } from "./timeline-inks";
import type { Picture } from "./timeline-paint";

export interface IcicleView {
  /** The part of the width that is on the screen, between 0 and 1. */
  from: number;
  to: number;
}

export interface IciclePaint {
  inks: Uint32Array;
  lit: Uint8Array | null;
  background: number;
}

export interface NodeLabel {
  node: number;
  x: number;
  y: number;
  width: number;
  lit: boolean;
}

const FADED = 52;

/** Draws the nodes of a depth between two rows of pixels; adds those that are wide enough for words to `labels`. */
export function paintNodes(
  picture: Picture,
  tree: Tree,
  depth: number,
  top: number,
  height: number,
  view: IcicleView,
  paint: IciclePaint,
  labels: NodeLabel[],
  wordy: number,
): void {
  const row = tree.rows[depth];
  if (!row || height <= 0 || top >= picture.height || top + height <= 0) return;
  const { pixels, width } = picture;
  const scale = width / Math.max(1e-300, view.to - view.from);
  const base = Math.max(0, top) * width;
  let painted = -1;
  for (let at = Math.max(0, lastFrom(tree, row, view.from)); at < row.length; at++) {
    const node = row[at] as number;
    const x0 = ((tree.from[node] as number) - view.from) * scale;
    if (x0 >= width) break;
    const x1 = ((tree.to[node] as number) - view.from) * scale;
    if (x1 <= 0) continue;
    const left = Math.max(0, Math.floor(x0));
    const right = Math.min(width, Math.max(left + 1, Math.round(x1)));
    if (right <= painted) {
      // All further nodes that end in this pixel are skipped at once: a hundred thousand of them cost a search each.
      const next = lastFrom(tree, row, view.from + right / scale - 1e-15);
      if (next > at) at = next - 1;
      continue;
    }
    const name = tree.name[node] as number;
    const lit = !paint.lit || paint.lit[name] === 1;
    const ink = paint.inks[name] ?? paint.background;
    pixels.fill(lit ? ink : mixed(paint.background, ink, FADED), base + left, base + right);
    if (right - left >= 3 && x0 >= 0) pixels[base + left] = paint.background;
    painted = right;
    if (right - left >= wordy) labels.push({ node, x: left, y: top, width: right - left, lit });
  }
  const last = Math.min(picture.height, top + height);
  if (painted < 0) return;
  for (let y = Math.max(0, top) + 1; y < last; y++) pixels.copyWithin(y * width, base, base + width);
}
