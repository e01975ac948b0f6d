/** Colours that belong to runs: the same on every page, apart for colour-blind eyes, readable on both themes. */

export interface Ink {
  light: string;
  dark: string;
}

/**
 * Eight hues that stay apart for people who see no red or no green (0.115 in OKLab or more between any two, also as
 * they see them; 0.09 for who sees no blue), each with 3:1 or more against its background. Those at the same place of
 * both lists are one run's.
 */
export const PALETTE: readonly Ink[] = [
  { light: "#434dca", dark: "#739cec" },
  { light: "#c97b00", dark: "#fd9c23" },
  { light: "#039d8a", dark: "#0ad599" },
  { light: "#9f2878", dark: "#d2669d" },
  { light: "#795f00", dark: "#f1ff70" },
  { light: "#9c78eb", dark: "#8c5fff" },
  { light: "#5f1a00", dark: "#f5351f" },
  { light: "#140c57", dark: "#e4c0ff" },
];

/** Line dashes of runs that share a hue; the first is a solid line. */
export const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2]];

export interface Look {
  colour: string;
  dash: readonly number[];
  /** Position in the palette and dash tables, as `palette + 8 * dash`. */
  slot: number;
}

/** FNV-1a over the letters: the same word has the same colour everywhere. */
export function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * One slot per run that is drawn. `hueOf` is the run's own hue, from the server: the same wherever it is shown, and for
 * ever. Of runs with one hue the first has a solid line, the others are dashed, each in its own way.
 */
export function assignSlots(ids: readonly string[], hueOf: (id: string) => number | undefined): Map<string, number> {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  for (const id of ids) {
    const hue = hueOf(id);
    if (hue === undefined) continue;
    const own = hue % PALETTE.length;
    const looks = DASHES.map((_, dash) => own + dash * PALETTE.length);
    const slot = looks.find((look) => !taken.has(look)) ?? own;
    slots.set(id, slot);
    taken.add(slot);
  }
  return slots;
}

/**
 * One slot per group: each a hue of its own while there are any, then dashes. A group has no color to keep but its
 * value's.
 */
export function spreadSlots(ids: readonly string[], hueOf: (id: string) => number): Map<string, number> {
  const taken = new Set<number>();
  const size = PALETTE.length;
  return new Map(
    ids.map((id) => {
      const own = hueOf(id) % size;
      // Steps of three walk through all eight hues and land far from the one that was taken.
      const looks = DASHES.flatMap((_, dash) => PALETTE.map((__, step) => dash * size + ((own + step * 3) % size)));
      const slot = looks.find((look) => !taken.has(look)) ?? own;
      taken.add(slot);
      return [id, slot];
    }),
  );
}

/** A run that is not known yet, or no longer there. */
export const UNKNOWN: Ink = { light: "#9a9ca5", dark: "#6d707a" };

export function lookOf(slot: number | undefined, dark: boolean): Look {
  if (slot === undefined || slot < 0) return { colour: dark ? UNKNOWN.dark : UNKNOWN.light, dash: [], slot: -1 };
  const ink = PALETTE[slot % PALETTE.length] as Ink;
  const dash = DASHES[Math.floor(slot / PALETTE.length) % DASHES.length] as readonly number[];
  return { colour: dark ? ink.dark : ink.light, dash, slot };
}

/** How a legend shows a look: a bar of its color, broken like its line. */
export function swatch({ colour, dash }: Pick<Look, "colour" | "dash">): string {
  if (dash.length === 0) return colour;
  const [on = 4, off = 3] = dash;
  const scale = 7 / (on + off);
  return `repeating-linear-gradient(90deg, ${colour} 0 ${round(on * scale)}px, transparent ${round(on * scale)}px 7px)`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
