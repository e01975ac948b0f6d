/**
 * Which of a million lines are on the screen. A browser's element ends at some ten million pixels, so a longer list is
 * scaled.
 */

export const LINE = 18;
/** Firefox gives up near 17.8 million pixels. */
export const MOST_PIXELS = 15_000_000;

export interface Scroll {
  /** Height of the scrolled space. */
  space: number;
  /** Pixels of the space per line. */
  pitch: number;
  /** The first line at the very end. */
  lastTop: number;
}

/** `tail` is how many lines fill the view at the end: fewer than its height says when lines are wrapped. */
export function scrollOf(rows: number, view: number, tail = view / LINE): Scroll {
  const lastTop = Math.max(0, rows - Math.min(rows, tail));
  const pitch = lastTop > 0 ? Math.min(LINE, (MOST_PIXELS - view) / lastTop) : LINE;
  return { space: view + lastTop * pitch, pitch, lastTop };
}

/** The line at the top of the view, with its fraction that is scrolled away. */
export function topLine(scroll: Scroll, scrollTop: number): number {
  return Math.max(0, Math.min(scroll.lastTop, scrollTop / scroll.pitch));
}

/** Where to scroll so that a line stands a third of the view below its top. */
export function scrollTopOf(scroll: Scroll, row: number, view: number): number {
  return Math.round(Math.max(0, Math.min(scroll.lastTop, row - view / LINE / 3)) * scroll.pitch);
}

/** `120`, `120-140`: the lines a link points at. */
export function readLines(text: string): { first: number; last: number } | null {
  const found = /^(\d{1,12})(?:-(\d{1,12}))?$/.exec(text);
  if (!found) return null;
  const a = Number(found[1]);
  const b = found[2] === undefined ? a : Number(found[2]);
  return { first: Math.min(a, b), last: Math.max(a, b) };
}

export function writeLines(first: number, last: number): string {
  const [a, b] = [Math.min(first, last), Math.max(first, last)];
  return a === b ? String(a) : `${a}-${b}`;
}

/** `14:03:27` in the viewer's zone, or with its date when it is another day than `today`. */
export function clockText(time: number): string {
  const date = new Date(time * 1000);
  if (Number.isNaN(date.getTime())) return "–";
  const two = (part: number) => String(part).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `+0:04`, `+12:31`, `+3:05:10`: since the run began. */
export function sinceText(time: number, began: number): string {
  const total = Math.max(0, Math.floor(time - began));
  if (!Number.isFinite(total)) return "–";
  const two = (part: number) => String(part).padStart(2, "0");
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  return hours ? `+${hours}:${two(minutes)}:${two(total % 60)}` : `+${minutes}:${two(total % 60)}`;
}
