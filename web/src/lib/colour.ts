/** Colours that belong to runs: the same on every page, apart for colour-blind eyes, readable on both themes. */

export interface Ink {
  light: string;
  dark: string;
}

/** Twelve hues, ordered so that neighbours differ in lightness too. Each has 3:1 or more against its background. */
export const PALETTE: readonly Ink[] = [
  { light: "#2f6fd0", dark: "#5b9dff" },
  { light: "#c2570c", dark: "#ff9a4d" },
  { light: "#0f8a6b", dark: "#35c9a0" },
  { light: "#b3267a", dark: "#f277bb" },
  { light: "#8a6d00", dark: "#e0c040" },
  { light: "#6a3fc4", dark: "#a98bff" },
  { light: "#0b8298", dark: "#45cfe6" },
  { light: "#c22f37", dark: "#ff7d7f" },
  { light: "#4d7c0f", dark: "#a3d64a" },
  { light: "#7a4a2b", dark: "#d2a27c" },
  { light: "#5a6478", dark: "#a5b0c6" },
  { light: "#9333ab", dark: "#df8cf5" },
];

/** Line dashes for the runs after the first twelve; the first is a solid line. */
export const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2]];

export interface Look {
  colour: string;
  dash: readonly number[];
  /** Position in the palette and dash tables, as `palette + 12 * dash`. */
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

/** Hues that are hard to tell apart in a thin line, in one theme or the other (less than 0.115 in OKLab). */
const NEAR: ReadonlySet<string> = new Set(["0-5", "1-4", "1-7", "1-9", "2-6", "2-8", "3-7", "3-11", "4-8", "4-9", "5-11", "6-10", "7-9", "9-10"]);
/** So many chosen runs are drawn far apart from each other; with more, each keeps to its own hue where it can. */
const FEW = 4;

/**
 * One slot per run that is drawn. `hueOf` is the run's own hue, from the server: the same wherever it is shown.
 * A chosen run whose hue a run before it has, or for the first few one much like it, takes the next free one
 * (`recolour`), a run that was not chosen a dash.
 */
export function assignSlots(
  ids: readonly string[],
  hueOf: (id: string) => number | undefined,
  recolour: boolean,
): Map<string, number> {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  for (const id of ids) {
    const hue = hueOf(id);
    if (hue === undefined) continue;
    const own = hue % PALETTE.length;
    const apart = recolour && slots.size < FEW ? farSlot(own, taken) : null;
    const slot = apart ?? freeSlot(own, taken, recolour ? PALETTE.length : 1);
    slots.set(id, slot);
    taken.add(slot);
  }
  return slots;
}

/** The first free hue from `wanted` on that is like none of those taken. */
function farSlot(wanted: number, taken: ReadonlySet<number>): number | null {
  for (let step = 0; step < PALETTE.length; step++) {
    const slot = (wanted + step * 5) % PALETTE.length;
    const like = [...taken].some((other) => other === slot || NEAR.has(other < slot ? `${other}-${slot}` : `${slot}-${other}`));
    if (!like) return slot;
  }
  return null;
}

function freeSlot(wanted: number, taken: ReadonlySet<number>, hues: number): number {
  const size = PALETTE.length;
  for (let dash = 0; dash < DASHES.length; dash++) {
    for (let step = 0; step < hues; step++) {
      // Steps of five walk through all twelve hues and land far from the hue that was taken.
      const slot = dash * size + ((wanted + step * 5) % size);
      if (!taken.has(slot)) return slot;
    }
  }
  return wanted;
}

/** A run that is not known yet, or no longer there. */
const UNKNOWN: Ink = { light: "#9a9ca5", dark: "#6d707a" };

export function lookOf(slot: number | undefined, dark: boolean): Look {
  if (slot === undefined) return { colour: dark ? UNKNOWN.dark : UNKNOWN.light, dash: [], slot: -1 };
  const ink = PALETTE[slot % PALETTE.length] as Ink;
  const dash = DASHES[Math.floor(slot / PALETTE.length) % DASHES.length] as readonly number[];
  return { colour: dark ? ink.dark : ink.light, dash, slot };
}
