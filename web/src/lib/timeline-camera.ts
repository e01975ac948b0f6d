/** Which part of the time axis is on the screen, and which tiles that takes. Times are nanoseconds on the axis. */

export interface Camera {
  /** At the left edge. */
  begin: number;
  /** Nanoseconds of one CSS pixel. */
  scale: number;
}

export interface Axis {
  /** The first and last time there is something at. */
  begin: number;
  end: number;
}

/** The screen never shows less than this: events are no shorter. */
const LEAST_NS = 20;
/** How much empty room there may be beside the axis, in screens. */
const ROOM = 0.5;

/** All of a stretch of time, with a little room at both sides. */
export function fit(begin: number, end: number, width: number, room = 0.02): Camera {
  const length = Math.max(end - begin, LEAST_NS);
  return { begin: begin - length * room, scale: (length * (1 + 2 * room)) / Math.max(1, width) };
}

/** Zooms by a factor (more than 1: closer), keeping the time under `x` where it is. */
export function zoomed(camera: Camera, factor: number, x: number): Camera {
  const scale = camera.scale / factor;
  return { begin: camera.begin + x * (camera.scale - scale), scale };
}

export function panned(camera: Camera, dx: number): Camera {
  return { begin: camera.begin - dx * camera.scale, scale: camera.scale };
}

/** Within what there is to see. */
export function clamped(camera: Camera, axis: Axis, width: number): Camera {
  const whole = Math.max(axis.end - axis.begin, LEAST_NS);
  const scale = Math.max(LEAST_NS / Math.max(1, width), Math.min(camera.scale, (whole * 1.2) / Math.max(1, width)));
  const room = scale * width * ROOM;
  const begin = Math.max(axis.begin - room, Math.min(camera.begin, axis.end + room - scale * width));
  return { begin, scale };
}

/** The camera at a point between two, for a short flight; closeness changes evenly to the eye. */
export function between(from: Camera, to: Camera, part: number, width: number): Camera {
  const t = part < 0 ? 0 : part > 1 ? 1 : 1 - (1 - part) ** 3;
  const scale = Math.exp(Math.log(from.scale) * (1 - t) + Math.log(to.scale) * t);
  const middle = (camera: Camera) => camera.begin + (camera.scale * width) / 2;
  // In the measure of the zoom, so that the place flown to does not run off the screen meanwhile.
  const share = Math.abs(from.scale - to.scale) < 1e-12 ? t : (from.scale - scale) / (from.scale - to.scale);
  return { begin: middle(from) * (1 - share) + middle(to) * share - (scale * width) / 2, scale };
}

/** A stretch of the axis as it stands in an address: `1200+350` is 350 ns from 1,200 ns on. */
export function writeStretch(camera: Camera, zero: number, width: number): string {
  return `${Math.round(camera.begin - zero)}+${Math.max(1, Math.round(camera.scale * width))}`;
}

/** The camera that an address means; null when it means none. */
export function readStretch(text: string, zero: number, width: number): Camera | null {
  const found = /^(-?\d{1,18})\+(\d{1,18})$/.exec(text);
  if (!found || width <= 0) return null;
  return { begin: Number(found[1]) + zero, scale: Math.max(1, Number(found[2])) / width };
}

export interface TileSpan {
  level: number;
  first: number;
  /** Inclusive. */
  last: number;
}

/** The finest level whose pixels are no wider than the screen's. `ratio`: device pixels of a CSS pixel. */
export function levelOf(scale: number, ratio: number): number {
  return Math.max(0, Math.min(62, Math.floor(Math.log2(Math.max(1, scale / ratio)))));
}

export function tileWidth(level: number, tile: number): number {
  return tile * 2 ** level;
}

/** The tiles of a level that meet a stretch of an axis that is `span` long. */
export function tilesOf(begin: number, end: number, level: number, tile: number, span: number): TileSpan {
  const width = tileWidth(level, tile);
  const last = Math.max(0, Math.floor(span / width));
  const at = (time: number) => Math.max(0, Math.min(last, Math.floor(time / width)));
  return { level, first: at(begin), last: at(end) };
}

/** The level at which one tile holds everything. */
export function topLevel(span: number, tile: number): number {
  return Math.max(0, Math.ceil(Math.log2(Math.max(1, (span + 1) / tile))));
}
