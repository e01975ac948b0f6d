/**
 * Blocks as pixels. A canvas needs about a microsecond for a rectangle, and a screen can show a hundred thousand;
 * written into an image a rectangle costs a few nanoseconds, whatever the browser draws with.
 */

import { mixed } from "./timeline-inks";
import { lastBefore, lineOf, type Tile } from "./timeline-tile";

export interface Picture {
  pixels: Uint32Array;
  /** Device pixels. */
  width: number;
  height: number;
}

export interface Paint {
  /** A pixel for each name, or for each kind. */
  inks: Uint32Array;
  byKind: boolean;
  /** Names that are looked for; the others fade. Null: nothing is. */
  lit: Uint8Array | null;
  background: number;
  /** The line between neighbours. */
  edge: number;
}

/** The time at the left edge and nanoseconds per device pixel. */
export interface Frame {
  begin: number;
  scale: number;
}

/** A block that is wide enough for words. */
export interface Label {
  x: number;
  y: number;
  width: number;
  name: number;
  count: number;
  lit: boolean;
}

const FADED = 52;
/** A merged block is at least this visible, however little of it is covered. */
const LEAST = 105;

export interface LinePlace {
  tile: Tile;
  depth: number;
  /** The first pixel row, and how many. */
  top: number;
  height: number;
  /** Pixel columns that this tile may fill. */
  from: number;
  to: number;
  /** Take up words of blocks that begin before `from` too. */
  first: boolean;
}

/** Draws one line of one tile, and adds the blocks that are at least `wordy` pixels wide to `labels`. */
export function paintLine(
  picture: Picture,
  place: LinePlace,
  frame: Frame,
  paint: Paint,
  labels: Label[],
  wordy: number,
): void {
  const { tile, from, to } = place;
  const [first, end] = lineOf(tile, place.depth);
  if (first === end || from >= to || place.height <= 0 || place.top >= picture.height || place.top + place.height <= 0)
    return;
  const { pixels, width } = picture;
  const row = Math.max(0, place.top) * width;
  const begin = frame.begin + from * frame.scale;
  const stop = frame.begin + to * frame.scale;
  let painted = -1;
  for (let at = Math.max(first, lastBefore(tile, first, end, begin)); at < end; at++) {
    const start = tile.start[at] as number;
    if (start >= stop) break;
    const x0 = (start - frame.begin) / frame.scale;
    const x1 = x0 + (tile.dur[at] as number) / frame.scale;
    if (x1 < from) continue;
    let left = Math.floor(x0);
    const right = Math.min(to, Math.max(left + 1, Math.round(x1)));
    const begins = left >= from;
    if (!begins) left = from;
    if (right <= painted || right <= left) continue;
    const ink = inkOf(tile, at, paint);
    pixels.fill(ink, row + left, row + right);
    if (begins && right - left >= 3) pixels[row + left] = paint.edge;
    painted = right;
    const words = x1 - x0;
    if (words >= wordy && (begins || place.first)) addLabel(labels, tile, at, x0, x1, place.top, width, paint);
  }
  if (painted < 0) return;
  const last = Math.min(picture.height, place.top + place.height);
  for (let y = Math.max(0, place.top) + 1; y < last; y++) pixels.copyWithin(y * width + from, row + from, row + to);
}

function inkOf(tile: Tile, at: number, paint: Paint): number {
  const name = tile.name[at] as number;
  let ink = paint.byKind ? (paint.inks[tile.kind[at] as number] ?? paint.edge) : (paint.inks[name] ?? paint.edge);
  if (paint.lit && !paint.lit[name]) ink = mixed(paint.background, ink, FADED);
  const busy = tile.busy[at] as number;
  return busy < 255 && (tile.count[at] as number) > 1 ? mixed(paint.background, ink, Math.max(LEAST, busy)) : ink;
}

function addLabel(
  labels: Label[],
  tile: Tile,
  at: number,
  x0: number,
  x1: number,
  y: number,
  width: number,
  paint: Paint,
): void {
  const x = Math.max(0, x0);
  const name = tile.name[at] as number;
  const seen = Math.min(width, x1) - x;
  if (seen > 0)
    labels.push({ x, y, width: seen, name, count: tile.count[at] as number, lit: !paint.lit || paint.lit[name] === 1 });
}

/** One colour over some rows of pixels. */
export function fillRows(picture: Picture, top: number, height: number, colour: number): void {
  const from = Math.max(0, Math.min(picture.height, top));
  const to = Math.max(from, Math.min(picture.height, top + height));
  picture.pixels.fill(colour, from * picture.width, to * picture.width);
}
