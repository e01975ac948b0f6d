/** Pixels made easier to see: contrast, gamma, one channel, a colour map. Numbers in, numbers out. */

import type { Codec } from "./url";
import { MAPS, type MapName } from "./colour-maps";

export type Stretch = "none" | "auto" | "equalise";
export type Channel = "all" | "r" | "g" | "b" | "a";

export interface Adjust {
  stretch: Stretch;
  gamma: number;
  map: MapName | "none";
  channel: Channel;
}

export const NEUTRAL: Adjust = { stretch: "none", gamma: 1, map: "none", channel: "all" };
export const GAMMAS = { least: 0.2, most: 5 } as const;

export interface Pixels {
  width: number;
  height: number;
  /** Red, green, blue, alpha for each pixel, row by row. */
  data: Uint8ClampedArray;
}

export const isNeutral = (adjust: Adjust): boolean =>
  adjust.stretch === "none" && adjust.gamma === 1 && adjust.map === "none" && adjust.channel === "all";

/** `equalise,1.4,viridis,r` in the address. */
export const adjustCodec: Codec<Adjust> = {
  write: (a) => (isNeutral(a) ? "" : [a.stretch, a.gamma, a.map, a.channel].join()),
  read: (text) => {
    const [stretch = "", gamma = "", map = "", channel = ""] = text.split(",");
    const amount = Number(gamma);
    const fits =
      ["none", "auto", "equalise"].includes(stretch) &&
      amount >= GAMMAS.least &&
      amount <= GAMMAS.most &&
      (map === "none" || map in MAPS) &&
      ["all", "r", "g", "b", "a"].includes(channel);
    return fits ? ({ stretch, gamma: amount, map, channel } as Adjust) : undefined;
  },
};

/** How bright a colour looks, 0 to 255. */
const luma = (r: number, g: number, b: number): number => Math.round(0.2126 * r + 0.7152 * g + 0.0722 * b);

const OFFSET: Record<Exclude<Channel, "all">, number> = { r: 0, g: 1, b: 2, a: 3 };

/** The one number per pixel that a channel stands for; brightness for all of them. */
export function levelsOf(pixels: Pixels, channel: Channel): Uint8Array {
  const { data } = pixels;
  const out = new Uint8Array(data.length / 4);
  if (channel === "all") {
    for (let at = 0, i = 0; i < out.length; at += 4, i++)
      out[i] = luma(data[at] as number, data[at + 1] as number, data[at + 2] as number);
  } else {
    for (let at = OFFSET[channel], i = 0; i < out.length; at += 4, i++) out[i] = data[at] as number;
  }
  return out;
}

/** How many pixels have each of the 256 levels. */
export function countLevels(levels: Uint8Array): Uint32Array {
  const counts = new Uint32Array(256);
  for (const level of levels) counts[level] = (counts[level] as number) + 1;
  return counts;
}

/** The share of pixels cut off at each end by `auto`. */
const CUT = 0.005;

function limits(counts: Uint32Array): [number, number] {
  const total = counts.reduce((sum, n) => sum + n, 0);
  const end = (from: number, step: number): number => {
    let sum = 0;
    for (let level = from; level >= 0 && level < 256; level += step) {
      sum += counts[level] as number;
      if (sum > total * CUT) return level;
    }
    return from;
  };
  const low = end(0, 1);
  const high = end(255, -1);
  return high > low ? [low, high] : [0, 255];
}

function stretched(counts: Uint32Array, how: Stretch): Float64Array {
  const table = Float64Array.from({ length: 256 }, (_, level) => level / 255);
  if (how === "auto") {
    const [low, high] = limits(counts);
    return table.map((_, level) => Math.max(0, Math.min(1, (level - low) / (high - low))));
  }
  if (how === "none") return table;
  const total = counts.reduce((sum, n) => sum + n, 0);
  const first = counts.find((n) => n > 0) ?? 0;
  if (total <= first) return table; // one level only: nothing to spread
  let sum = 0;
  return table.map((_, level) => {
    sum += counts[level] as number;
    return Math.max(0, sum - first) / (total - first);
  });
}

/** What each level becomes, 0 to 255. */
export function levelTable(counts: Uint32Array, adjust: Adjust): Uint8Array {
  const base = stretched(counts, adjust.stretch);
  return Uint8Array.from(base, (part) => Math.round(255 * part ** (1 / adjust.gamma)));
}

/** A new picture, adjusted. One table for all channels, so that colours do not shift. */
export function adjusted(pixels: Pixels, adjust: Adjust): Pixels {
  const levels = levelsOf(pixels, adjust.channel);
  const table = levelTable(countLevels(levels), adjust);
  const out = new Uint8ClampedArray(pixels.data.length);
  const single = adjust.channel !== "all" || adjust.map !== "none";
  const map = adjust.map === "none" ? null : MAPS[adjust.map];
  for (let i = 0, at = 0; i < levels.length; i++, at += 4) {
    if (single) {
      const level = table[levels[i] as number] as number;
      out[at] = map ? (map[level * 3] as number) : level;
      out[at + 1] = map ? (map[level * 3 + 1] as number) : level;
      out[at + 2] = map ? (map[level * 3 + 2] as number) : level;
    } else {
      out[at] = table[pixels.data[at] as number] as number;
      out[at + 1] = table[pixels.data[at + 1] as number] as number;
      out[at + 2] = table[pixels.data[at + 2] as number] as number;
    }
    out[at + 3] = adjust.channel === "a" ? 255 : (pixels.data[at + 3] as number);
  }
  return { width: pixels.width, height: pixels.height, data: out };
}

/** A level back as the value that was logged, where the record says how it was scaled. */
export function loggedValue(level: number, scaled: unknown): number | null {
  if (!Array.isArray(scaled) || typeof scaled[0] !== "number" || typeof scaled[1] !== "number") return null;
  return scaled[0] + (level / 255) * (scaled[1] - scaled[0]);
}

export interface Difference {
  pixels: Pixels;
  /** The greatest difference of any channel, 0 to 255. */
  most: number;
  /** The mean over all pixels and channels. */
  mean: number;
  /** How many pixels differ at all. */
  changed: number;
}

/** Second minus first: brighter is red, darker is blue, the same is grey. Null when their sizes differ. */
export function difference(first: Pixels, second: Pixels, gain = 1): Difference | null {
  if (first.width !== second.width || first.height !== second.height) return null;
  const out = new Uint8ClampedArray(first.data.length);
  let most = 0;
  let sum = 0;
  let changed = 0;
  for (let at = 0; at < out.length; at += 4) {
    let signed = 0;
    let far = 0;
    for (let c = 0; c < 3; c++) {
      const by = (second.data[at + c] as number) - (first.data[at + c] as number);
      signed += by;
      sum += Math.abs(by);
      far = Math.max(far, Math.abs(by));
    }
    most = Math.max(most, far);
    if (far > 0) changed++;
    // The size is that of the channel that moved most: a change of hue at the same brightness shows too.
    const part = Math.min(1, (far * gain) / 255);
    const [r, g, b] = signed >= 0 ? [214, 48, 39] : [49, 96, 214];
    out[at] = 245 + (r - 245) * part;
    out[at + 1] = 245 + (g - 245) * part;
    out[at + 2] = 245 + (b - 245) * part;
    out[at + 3] = 255;
  }
  return {
    pixels: { width: first.width, height: first.height, data: out },
    most,
    mean: sum / ((out.length / 4) * 3),
    changed,
  };
}
