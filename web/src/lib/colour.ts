/** Colours that belong to runs: stable by id, apart for colour-blind eyes, readable on both themes. */

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

/** FNV-1a over the letters: the same id has the same preferred slot everywhere. */
export function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * One slot per run. A run takes the slot its id prefers, or the next free one when a run before it has that.
 * Slots in `before` are kept while they stay unique, so that adding or removing a run recolours no other.
 */
export function assignSlots(
  ids: readonly string[],
  before: ReadonlyMap<string, number> = new Map(),
): Map<string, number> {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  const keep = (id: string, slot: number) => {
    slots.set(id, slot);
    taken.add(slot);
  };
  for (const id of ids) {
    const slot = before.get(id);
    if (slot !== undefined && !taken.has(slot)) keep(id, slot);
  }
  for (const id of ids) if (!slots.has(id)) keep(id, freeSlot(hashOf(id) % PALETTE.length, taken));
  return slots;
}

function freeSlot(wanted: number, taken: ReadonlySet<number>): number {
  const size = PALETTE.length;
  for (let dash = 0; dash < DASHES.length; dash++) {
    for (let step = 0; step < size; step++) {
      // Steps of five walk through all twelve hues and land far from the hue that was taken.
      const slot = dash * size + ((wanted + step * 5) % size);
      if (!taken.has(slot)) return slot;
    }
  }
  return wanted;
}

export function lookOf(slot: number, dark: boolean): Look {
  const ink = PALETTE[slot % PALETTE.length] as Ink;
  const dash = DASHES[Math.floor(slot / PALETTE.length) % DASHES.length] as readonly number[];
  return { colour: dark ? ink.dark : ink.light, dash, slot };
}
