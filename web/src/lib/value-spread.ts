/** One number of each run, put together by groups: what bars, boxes and histograms are drawn from. */

import type { Cell } from "./schema";

export interface Valued {
  id: string;
  name: string;
  value: number;
  group: string;
}

export interface Spread {
  label: string;
  /** The run, where the row is one run. */
  run: string | null;
  values: readonly number[];
}

/** The cells of a table as numbers and groups; rows without a finite number are left out and counted. */
export function valued(rows: readonly { id: string; name: string; cells: readonly Cell[] }[]): {
  values: Valued[];
  left: number;
} {
  const values: Valued[] = [];
  for (const { id, name, cells } of rows) {
    const [value, group] = cells;
    if (typeof value === "number" && Number.isFinite(value))
      values.push({ id, name, value, group: group === null || group === undefined ? "none" : String(group) });
  }
  return { values, left: rows.length - values.length };
}

/** One row for each run, largest first; or one for each group, in the order of the group's value. */
export function spreads(values: readonly Valued[], grouped: boolean): Spread[] {
  if (!grouped)
    return [...values]
      .sort((a, b) => b.value - a.value)
      .map(({ id, name, value }) => ({ label: name, run: id, values: [value] }));
  const groups = new Map<string, number[]>();
  for (const { group, value } of values) groups.set(group, [...(groups.get(group) ?? []), value]);
  return [...groups]
    .sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
    .map(([label, some]) => ({ label, run: null, values: some }));
}

export interface Box {
  low: number;
  q1: number;
  median: number;
  q3: number;
  high: number;
  /** Beyond one and a half times the box from it. */
  outliers: number[];
}

function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}

/** A box as Tukey drew it; null for no values. */
export function boxOf(values: readonly number[]): Box | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((q) => quantile(sorted, q)) as [number, number, number];
  const reach = 1.5 * (q3 - q1);
  const inside = sorted.filter((value) => value >= q1 - reach && value <= q3 + reach);
  const outliers = sorted.filter((value) => value < q1 - reach || value > q3 + reach);
  return { low: inside[0] as number, q1, median, q3, high: inside.at(-1) as number, outliers };
}

export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** Bins of equal width over all values; their number grows with the root of how many values there are. */
export function binsOf(values: readonly number[], most = 40): Bin[] {
  if (values.length === 0) return [];
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  if (low === high) return [{ from: low, to: high, count: values.length }];
  const many = Math.min(most, Math.max(4, Math.ceil(Math.sqrt(values.length) * 1.5)));
  const wide = (high - low) / many;
  const bins = Array.from({ length: many }, (_, n) => ({ from: low + n * wide, to: low + (n + 1) * wide, count: 0 }));
  for (const value of values) (bins[Math.min(many - 1, Math.floor((value - low) / wide))] as Bin).count++;
  return bins;
}

/** The range that bars and boxes are drawn over: bars begin at zero. */
export function spanOf(rows: readonly Spread[], fromZero: boolean): readonly [number, number] {
  const all = rows.flatMap((row) => row.values);
  if (all.length === 0) return [0, 1];
  const low = all.reduce((a, b) => Math.min(a, b), fromZero ? 0 : Number.POSITIVE_INFINITY);
  const high = all.reduce((a, b) => Math.max(a, b), fromZero ? 0 : Number.NEGATIVE_INFINITY);
  if (low === high) return [low - 0.5, high + 0.5];
  const pad = fromZero ? 0 : (high - low) * 0.06;
  return [low - pad, high + pad];
}
