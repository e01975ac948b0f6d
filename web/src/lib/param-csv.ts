/** The table of parameters as CSV, and its order. */

import { tableCsv } from "./chart-csv";
import { cellOf, MISSING, type ParamColumn, type ParamTable, VALUE } from "./param-table";

/** A column's key (`name` and `status` too), with `-` before it for the largest first. */
export function sortedRuns(table: ParamTable, runs: Int32Array, sort: string): Int32Array {
  const key = sort.replace(/^-/, "");
  const way = sort.startsWith("-") ? -1 : 1;
  const column = table.byKey.get(key);
  if (column) return runs.slice().sort((a, b) => compare(column, a, b, way) || a - b);
  const words = key === "status" ? table.statuses : key === "name" ? table.names : null;
  if (words)
    return runs
      .slice()
      .sort((a, b) => (words[a] as string).localeCompare(words[b] as string, "en", { numeric: true }) * way || a - b);
  return runs;
}

/** Values first, then what is broken, then what is missing, whichever way. */
function compare(column: ParamColumn, a: number, b: number, way: number): number {
  const left = column.state[a] as number;
  const right = column.state[b] as number;
  if (left !== VALUE || right !== VALUE) return rank(left) - rank(right);
  return ((column.values[a] as number) - (column.values[b] as number)) * way;
}

const rank = (state: number): number => (state === VALUE ? 0 : state === MISSING ? 2 : 1);

export function parametersCsv(table: ParamTable, runs: Int32Array, columns: readonly ParamColumn[]): string {
  const heads = ["id", "name", "status", ...columns.map((column) => column.key)];
  const rows = Array.from(runs, (run) => [
    table.ids[run],
    table.names[run],
    table.statuses[run],
    ...columns.map((column) => cellOf(column, run)),
  ]);
  return tableCsv(heads, rows);
}
