/** What was brushed: ranges of numbers, names, and the rails of what is not set or not finite. All views share it. */

import { formatNumber } from "./format";
import { BROKEN, MISSING, type ParamColumn, type ParamTable } from "./param-table";

export interface Brush {
  ranges: readonly (readonly [number, number])[];
  names: readonly string[];
  missing: boolean;
  broken: boolean;
}

export type Brushes = Readonly<Record<string, Brush>>;

export const NO_BRUSH: Brush = { ranges: [], names: [], missing: false, broken: false };

export function isEmpty(brush: Brush | undefined): boolean {
  return !brush || (brush.ranges.length === 0 && brush.names.length === 0 && !brush.missing && !brush.broken);
}

/** With one axis's brush set; an empty one is taken away. */
export function withBrush(brushes: Brushes, key: string, brush: Brush): Brushes {
  const { [key]: _old, ...others } = brushes;
  return isEmpty(brush) ? others : { ...others, [key]: brush };
}

/** Ranges with one more; those that overlap become one. */
export function addRange(ranges: Brush["ranges"], range: readonly [number, number]): [number, number][] {
  const all = [...ranges, [Math.min(...range), Math.max(...range)] as const].sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const [low, high] of all) {
    const last = joined[joined.length - 1];
    if (last && low <= last[1]) last[1] = Math.max(last[1], high);
    else joined.push([low, high]);
  }
  return joined;
}

function keeps(brush: Brush, column: ParamColumn): (run: number) => boolean {
  const names = new Set(brush.names);
  const ends = brush.ranges;
  const wanted = column.names.map((name) => names.has(name));
  return (run) => {
    if (column.state[run] === MISSING) return brush.missing;
    if (column.state[run] === BROKEN) return brush.broken;
    const value = column.values[run] as number;
    if (column.kind !== "number") return wanted[value] ?? false;
    for (const [low, high] of ends) if (value >= low && value <= high) return true;
    return false;
  };
}

/** 1 for each run that all brushes keep. A brush on a column that is not here keeps all. */
export function passing(table: ParamTable, brushes: Brushes): Uint8Array {
  const kept = new Uint8Array(table.size).fill(1);
  for (const [key, brush] of Object.entries(brushes)) {
    const column = table.byKey.get(key);
    if (!column || isEmpty(brush)) continue;
    const keep = keeps(brush, column);
    for (let run = 0; run < table.size; run++) if (kept[run] && !keep(run)) kept[run] = 0;
  }
  return kept;
}

export function countPassing(kept: Uint8Array): number {
  let total = 0;
  for (const one of kept) total += one;
  return total;
}

/** A brush in words: `1e-4 to 0.001`, `adam or sgd`, `not set`. */
export function brushWords(brush: Brush): string {
  const ranges = brush.ranges.map(([low, high]) =>
    low === high ? formatNumber(low, 3) : `${formatNumber(low, 3)} to ${formatNumber(high, 3)}`,
  );
  return [...ranges, ...brush.names, ...(brush.missing ? ["not set"] : []), ...(brush.broken ? ["NaN"] : [])].join(
    " or ",
  );
}

/** Is it what an address may hold? */
export function isBrushes(value: unknown): value is Brushes {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(isBrush);
}

function isBrush(value: unknown): value is Brush {
  if (typeof value !== "object" || value === null) return false;
  const { ranges, names, missing, broken } = value as Record<string, unknown>;
  const pairs =
    Array.isArray(ranges) &&
    ranges.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((end) => typeof end === "number"));
  return (
    pairs &&
    Array.isArray(names) &&
    names.every((name) => typeof name === "string") &&
    typeof missing === "boolean" &&
    typeof broken === "boolean"
  );
}
