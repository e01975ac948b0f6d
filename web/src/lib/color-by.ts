/**
 * Colors by a value that runs have: even steps for numbers, hues of the palette for words. The same for the same value
 * everywhere.
 */

import { DASHES, type Ink, PALETTE, UNKNOWN } from "./colour";
import { formatCell, formatNumber } from "./format";
import type { Cell, ColumnValues } from "./schema";

/**
 * From the least value to the greatest; each step has 3:1 or more against its background and is darker (lighter) than
 * the one before.
 */
export const STEPS: readonly Ink[] = [
  { light: "#c07a12", dark: "#8a63d8" },
  { light: "#bd573b", dark: "#b463c4" },
  { light: "#a53a63", dark: "#dd6f9f" },
  { light: "#7c2a86", dark: "#f58f70" },
  { light: "#4c2191", dark: "#fbb951" },
  { light: "#1d1464", dark: "#fdf06b" },
];

export type ColorScale =
  | { kind: "numbers"; low: number; high: number; log: boolean }
  /** A place in the palette for each of the most frequent values; `others` have none. */
  | { kind: "names"; slots: ReadonlyMap<string, number>; others: number };

/** A factor of ten between least and greatest is looked at in powers, as learning rates and batch sizes are. */
const LOG_FROM = 10;

/** How to color a column's values; null where no run has any. */
export function colorScale(found: ColumnValues): ColorScale | null {
  if (found.values.length === 0) return null;
  if (found.stats && found.values.every(({ value }) => typeof value === "number")) {
    const { min: low, max: high } = found.stats;
    return { kind: "numbers", low, high, log: low > 0 && high / low >= LOG_FROM };
  }
  const names = found.values.slice(0, PALETTE.length).map(({ value }) => formatCell(value));
  const slots = new Map(names.sort().map((name, at) => [name, at]));
  return { kind: "names", slots, others: found.distinct - slots.size };
}

/** The color of one run's value; gray for a run without one. */
export function colorOf(scale: ColorScale, value: Cell | undefined, dark: boolean): string {
  const side = dark ? "dark" : "light";
  if (value === null || value === undefined) return UNKNOWN[side];
  if (scale.kind === "names") {
    const slot = scale.slots.get(formatCell(value));
    return slot === undefined ? UNKNOWN[side] : (PALETTE[slot % PALETTE.length] as Ink)[side];
  }
  if (typeof value !== "number" || !Number.isFinite(value)) return UNKNOWN[side];
  return shadeAt(partOf(scale, value), dark);
}

function partOf({ low, high, log }: { low: number; high: number; log: boolean }, value: number): number {
  if (high <= low) return 1;
  const part = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.max(0, Math.min(1, part));
}

/** Between two steps the color is mixed of both. */
export function shadeAt(part: number, dark: boolean): string {
  const place = part * (STEPS.length - 1);
  const before = Math.min(STEPS.length - 2, Math.floor(place));
  const [from, to] = [before, before + 1].map((at) => channels((STEPS[at] as Ink)[dark ? "dark" : "light"]));
  const mixed = (from as number[]).map((value, at) => Math.round(value + ((to?.[at] ?? 0) - value) * (place - before)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

const channels = (hex: string): number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Runs of one color are told apart by their dashes, in the order they are drawn. */
export function dashesBy(ids: readonly string[], colorOf: (id: string) => string): Map<string, readonly number[]> {
  const seen = new Map<string, number>();
  return new Map(
    ids.map((id) => {
      const color = colorOf(id);
      const before = seen.get(color) ?? 0;
      seen.set(color, before + 1);
      return [id, DASHES[before % DASHES.length] as readonly number[]];
    }),
  );
}

/** What a legend shows: the ends of the scale, or a color for each name. */
export function legendOf(scale: ColorScale, dark: boolean): { label: string; color: string }[] {
  if (scale.kind === "numbers") {
    const ends = scale.high > scale.low ? [scale.low, scale.high] : [scale.high];
    return ends.map((value) => ({ label: formatNumber(value, 3), color: colorOf(scale, value, dark) }));
  }
  return [...scale.slots.keys()].map((label) => ({ label, color: colorOf(scale, label, dark) }));
}
