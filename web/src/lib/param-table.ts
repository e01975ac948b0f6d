/** Many runs as columns of numbers, as the Parameters page draws them. */

import { lowerBound } from "./chart-line";
import { quantile } from "./chart-range";
import type { ParameterColumn, Parameters } from "./schema";

/** What stands in a cell: a value, nothing, or NaN and infinities. */
export const VALUE = 0;
export const MISSING = 1;
export const BROKEN = 2;

export interface ParamColumn {
  key: string;
  label: string;
  source: "config" | "metric";
  kind: "number" | "bool" | "text";
  /** The server's judgement: best drawn on a log scale. */
  log: boolean;
  names: readonly string[];
  /** NaN where there is no value. */
  values: Float64Array;
  state: Uint8Array;
  distinct: number;
  low: number;
  high: number;
  /** The least value above zero; NaN without one. */
  positive: number;
  missing: number;
  broken: number;
}

export interface ParamTable {
  size: number;
  ids: readonly string[];
  names: readonly string[];
  statuses: readonly string[];
  created: readonly number[];
  ended: readonly (number | null)[];
  hues: readonly number[];
  columns: readonly ParamColumn[];
  byKey: ReadonlyMap<string, ParamColumn>;
  /** What the runs are judged by. */
  metric: ParamColumn | null;
  metricName: string | null;
  stat: string;
  goal: "min" | "max" | null;
  metrics: readonly string[];
  alike: number;
  unique: readonly string[];
  omitted: number;
  /** Runs left out because they did not finish. */
  unfinished: number;
  version: number;
}

export function readTable(answer: Parameters): ParamTable {
  const columns = answer.columns.map(readColumn);
  return {
    size: answer.ids.length,
    ids: answer.ids,
    names: answer.names,
    statuses: answer.statuses,
    created: answer.created,
    ended: answer.ended,
    hues: answer.hues,
    columns,
    byKey: new Map(columns.map((column) => [column.key, column])),
    metric: answer.metric === null ? null : (columns[0] ?? null),
    metricName: answer.metric,
    stat: answer.stat,
    goal: answer.goal,
    metrics: answer.metrics,
    alike: answer.alike,
    unique: answer.unique,
    omitted: answer.omitted,
    unfinished: answer.unfinished,
    version: answer.version,
  };
}

function readColumn(column: ParameterColumn): ParamColumn {
  const size = column.values.length;
  const values = new Float64Array(size).fill(Number.NaN);
  const state = new Uint8Array(size).fill(MISSING);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let positive = Number.POSITIVE_INFINITY;
  let missing = size;
  for (let run = 0; run < size; run++) {
    const value = column.values[run];
    if (typeof value !== "number") continue;
    values[run] = value;
    state[run] = VALUE;
    missing--;
    if (value < low) low = value;
    if (value > high) high = value;
    if (value > 0 && value < positive) positive = value;
  }
  for (const run of column.broken) {
    if (state[run] === MISSING) missing--;
    state[run] = BROKEN;
  }
  return {
    key: column.key,
    label: column.label,
    source: column.source,
    kind: column.kind,
    log: column.log,
    names: column.names,
    values,
    state,
    distinct: column.distinct,
    low: low <= high ? low : Number.NaN,
    high: low <= high ? high : Number.NaN,
    positive: Number.isFinite(positive) ? positive : Number.NaN,
    missing,
    broken: column.broken.length,
  };
}

/** The metric behind a column's key: `val/loss.min` is of val/loss, `"odd name".last` of odd name. Null for config. */
export function metricOfKey(key: string): string | null {
  if (key.startsWith("config.")) return null;
  const bare = key.replace(/\.(best|last|min|max|mean)$/, "");
  const quoted = /^"(.*)"$/s.exec(bare)?.[1];
  return quoted === undefined ? bare : quoted.replace(/\\(.)/g, "$1");
}

/** A column by its key; `loss.best` is whatever of the loss is here. */
export function columnOfKey(table: ParamTable, key: string): ParamColumn | undefined {
  const found = table.byKey.get(key);
  if (found || !key.endsWith(".best")) return found;
  const metric = metricOfKey(key);
  return table.columns.find((column) => column.source === "metric" && metricOfKey(column.key) === metric);
}

/**
 * Places from 0 (worst) to 63 (best) on the colour scale, by the value's place among all values; 255 without one. By
 * place and not by size, so that one outlier does not give all others the same colour. Equal values have one colour.
 */
export function shades(column: ParamColumn | null, goal: "min" | "max" | null, size: number): Uint8Array {
  const found = new Uint8Array(size).fill(255);
  const sorted = sortedValues(column);
  if (!column || sorted.length === 0) return found;
  for (let run = 0; run < size; run++) {
    const value = column.values[run] as number;
    if (Number.isNaN(value)) continue;
    const below = lowerBound(sorted, value);
    const upTo = upperBound(sorted, value);
    const part = sorted[0] === sorted[sorted.length - 1] ? 0.5 : (below + upTo - 1) / 2 / (sorted.length - 1);
    found[run] = Math.round(63 * (goal === "min" ? 1 - part : part));
  }
  return found;
}

const sortedValues = (column: ParamColumn | null): Float64Array =>
  column ? column.values.filter((value) => !Number.isNaN(value)).sort() : new Float64Array();

/** How many of the sorted values are at most `value`. */
function upperBound(sorted: Float64Array, value: number): number {
  let [lo, hi] = [0, sorted.length];
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((sorted[mid] as number) <= value) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** What stands at the worst end, in the middle and at the best end of the colour scale; null without values. */
export function shadeEnds(column: ParamColumn | null, goal: "min" | "max" | null): [number, number, number] | null {
  const sorted = sortedValues(column);
  if (sorted.length === 0) return null;
  const ends: [number, number, number] = [
    sorted[0] as number,
    quantile(sorted, 0.5),
    sorted[sorted.length - 1] as number,
  ];
  return goal === "min" ? (ends.reverse() as [number, number, number]) : ends;
}

/** Runs by a column's value: the best first where a way is good, else the least first; those without one last. */
export function ranking(column: ParamColumn, goal: "min" | "max" | null): Int32Array {
  const order = Int32Array.from(column.values, (_, run) => run);
  const way = goal === "max" ? -1 : 1;
  return order.sort((a, b) => {
    const left = column.values[a] as number;
    const right = column.values[b] as number;
    if (Number.isNaN(left) || Number.isNaN(right))
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || a - b;
    return (left - right) * way || a - b;
  });
}

/** A cell in words: a number, a name, `not set`, `NaN`. */
export function cellOf(column: ParamColumn, run: number): number | string | boolean | null {
  if (column.state[run] === BROKEN) return "NaN";
  if (column.state[run] === MISSING) return null;
  const value = column.values[run] as number;
  return column.kind === "number" ? value : column.kind === "bool" ? value > 0 : (column.names[value] ?? null);
}

export interface BestSoFar {
  /** Runs by time, those without a value left out. */
  order: Int32Array;
  times: Float64Array;
  /** The best value up to and with each of them. */
  best: Float64Array;
  /** Places in `order` of the runs that were better than all before. */
  improved: number[];
}

/** The best value as runs came in, by when they ended (or started). */
export function bestSoFar(
  table: ParamTable,
  goal: "min" | "max",
  by: "ended" | "created",
  passing: Uint8Array,
): BestSoFar {
  const values = table.metric?.values ?? new Float64Array(table.size).fill(Number.NaN);
  const timeOf = (run: number): number =>
    (by === "ended" ? (table.ended[run] ?? table.created[run]) : table.created[run]) as number;
  const runs: number[] = [];
  for (let run = 0; run < table.size; run++) if (passing[run] && !Number.isNaN(values[run] as number)) runs.push(run);
  const order = Int32Array.from(runs.sort((a, b) => timeOf(a) - timeOf(b) || a - b));
  const best = new Float64Array(order.length);
  const improved: number[] = [];
  order.forEach((run, at) => {
    const value = values[run] as number;
    const before = at ? (best[at - 1] as number) : Number.NaN;
    const better = at === 0 || (goal === "min" ? value < before : value > before);
    best[at] = better ? value : before;
    if (better) improved.push(at);
  });
  return { order, times: Float64Array.from(order, timeOf), best, improved };
}
