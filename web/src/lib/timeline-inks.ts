/**
 * The colours of events, as pixels: one for each name, the same wherever the name occurs, softer where it is not looked
 * for.
 */

import { rgbOf, type Rgb } from "./timeline-rgb";

export type ColourBy = "name" | "kind";

/** Numbers of `Kind` in the trace; each has a hue of its own when events are coloured by kind. */
export const KINDS: readonly string[] = [
  "other",
  "operator",
  "runtime call",
  "kernel",
  "copy",
  "fill",
  "annotation",
  "device annotation",
  "Python",
  "memory",
  "flow",
  "phase",
  "data loading",
  "synchronisation",
  "profiler overhead",
  "profiler",
]; // prettier-ignore

const HUES = 18;
const KIND_HUES: readonly (number | null)[] = [
  null,
  215,
  32,
  145,
  285,
  265,
  178,
  178,
  48,
  0,
  0,
  330,
  12,
  0,
  null,
  null,
];

/** A pixel as canvas images keep it, on the little-endian machines that browsers run on. */
export function pixel([r, g, b]: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Between two pixels: 0 gives the first, 255 the second. */
export function mixed(from: number, to: number, part: number): number {
  const at = (shift: number) => {
    const a = (from >>> shift) & 255;
    return a + ((((to >>> shift) & 255) - a) * part) / 255;
  };
  return ((255 << 24) | (at(16) << 16) | (at(8) << 8) | at(0)) >>> 0;
}

/** Names that differ only in numbers or template arguments share a hue: `ProfilerStep#3`, `sgemm_64x32<...>`. */
export function hueOf(name: string): number {
  let hash = 2166136261;
  const end = Math.min(name.length, 120);
  for (let at = 0; at < end; at++) {
    const code = name.charCodeAt(at);
    if (code === 60 || code === 40) break;
    if (code >= 48 && code <= 57) continue;
    hash = Math.imul(hash ^ code, 16777619);
  }
  return (((hash >>> 8) % HUES) * 360) / HUES;
}

/** A block's colour under dark or light text. Blue looks darker than other hues of the same lightness. */
function block(hue: number | null, dark: boolean, shade: number): Rgb {
  if (hue === null) return dark ? [74, 77, 86] : [205, 207, 214];
  const bluish = hue > 205 && hue < 295 ? 0.08 : 0;
  return dark ? rgbOf(hue, 0.42, 0.37 + bluish + shade * 0.05) : rgbOf(hue, 0.62, 0.79 - shade * 0.06);
}

/** A pixel for each name. Kinds are not known by name, so colouring by kind has a table of its own. */
export function inksOfNames(names: readonly string[], dark: boolean): Uint32Array {
  const inks = new Uint32Array(names.length);
  names.forEach((name, at) => (inks[at] = pixel(block(hueOf(name), dark, (name.length % 3) - 1))));
  return inks;
}

export function inksOfKinds(dark: boolean): Uint32Array {
  return Uint32Array.from(KIND_HUES, (hue) => pixel(block(hue, dark, 0)));
}
