/** A sheet as rows on the screen: its tree, what is filtered, in which order, what is open. No DOM. */

import { searchFor } from "./chart-search";
import { isNumeric } from "./profile-format";
import type { Column, Sheet } from "./schema";

export interface SheetOrder {
  /** A column's key; "" for the order of the sheet itself. */
  by: string;
  down: boolean;
}

export interface SheetTree {
  sheet: Sheet;
  /** The row above each row in the tree, or -1. */
  parent: Int32Array;
  children: readonly number[][];
  roots: readonly number[];
  depth: (row: number) => number;
}

export function sheetTree(sheet: Sheet): SheetTree {
  const levels = sheet.levels ?? [];
  const count = sheet.rows.length;
  const parent = new Int32Array(count).fill(-1);
  const children: number[][] = Array.from({ length: levels.length ? count : 0 }, () => []);
  const roots: number[] = [];
  const way: number[] = [];
  for (let row = 0; row < count; row++) {
    const level = levels[row] ?? 0;
    while (way.length > 0 && (levels[way[way.length - 1] as number] ?? 0) >= level) way.pop();
    const above = way[way.length - 1];
    if (above === undefined) roots.push(row);
    else {
      parent[row] = above;
      children[above]?.push(row);
    }
    if (levels.length) way.push(row);
  }
  return { sheet, parent, children, roots, depth: (row) => levels[row] ?? 0 };
}

export function isTree(tree: SheetTree): boolean {
  return tree.children.length > 0;
}

/** What is open at first: level by level, as long as about `most` rows are seen. */
export function openRows(tree: SheetTree, most = 40): Set<number> {
  const open = new Set<number>();
  let level = [...tree.roots];
  let seen = level.length;
  while (level.length > 0) {
    const next = level.flatMap((row) => tree.children[row] ?? []);
    seen += next.length;
    if (seen > most && open.size > 0) break;
    for (const row of level) if ((tree.children[row]?.length ?? 0) > 0) open.add(row);
    level = next;
  }
  return open;
}

export interface SheetFilter {
  /** The rows that fit, and in a tree the rows above them; null: all. */
  kept: ReadonlySet<number> | null;
  /** How many rows fit themselves. */
  hits: number;
  error: string | null;
}

/** Rows whose words contain what is asked for; `/…/` is a regular expression. */
export function filterRows(tree: SheetTree, text: string): SheetFilter {
  const { rows, columns } = tree.sheet;
  const isPattern = /^!?\/.+\/$/.test(text.trim());
  const search = searchFor(isPattern ? text.trim().replace(/^(!?)\/(.+)\/$/, "$1$2") : text, isPattern);
  if (!text.trim() || search.error) return { kept: null, hits: rows.length, error: search.error };
  const wordy = columns.flatMap((column, at) => (isNumeric(column.unit) ? [] : [at]));
  const kept = new Set<number>();
  // A pattern is asked of each cell, so that ^ and $ mean its ends; words may stand in different cells.
  const fits = (cells: readonly string[]): boolean => {
    if (!isPattern) return search.matches(cells.join(" "));
    return text.trim().startsWith("!") ? cells.every(search.matches) : cells.some(search.matches);
  };
  let hits = 0;
  rows.forEach((row, at) => {
    if (!fits(wordy.map((column) => String(row[column] ?? "")))) return;
    hits++;
    for (let up = at; up >= 0 && !kept.has(up); up = tree.parent[up] ?? -1) kept.add(up);
  });
  return { kept, hits, error: null };
}

/** The rows to draw, in their order. While a filter is on, a tree is open wherever it leads to a hit. */
export function rowsToShow(
  tree: SheetTree,
  open: ReadonlySet<number>,
  order: SheetOrder,
  filter: SheetFilter,
): number[] {
  const { kept } = filter;
  const compare = comparer(tree.sheet, order);
  const seen: number[] = [];
  const walk = (rows: readonly number[]): void => {
    const here = kept ? rows.filter((row) => kept.has(row)) : [...rows];
    if (compare) here.sort(compare);
    for (const row of here) {
      seen.push(row);
      const below = tree.children[row];
      if (below?.length && (kept || open.has(row))) walk(below);
    }
  };
  walk(tree.roots);
  return seen;
}

/** What is not known comes last, whichever way one sorts; equals keep the order of the sheet. */
function comparer(sheet: Sheet, { by, down }: SheetOrder): ((a: number, b: number) => number) | null {
  const at = sheet.columns.findIndex((column) => column.key === by);
  if (at < 0) return null;
  const sign = down ? -1 : 1;
  const value = (row: number): unknown => sheet.rows[row]?.[at] ?? null;
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
    if (typeof x === "string" && typeof y === "string") return sign * natural.compare(x, y) || a - b;
    return sign * (Number(x) - Number(y)) || a - b;
  };
}

const natural = new Intl.Collator("en", { numeric: true });

/** The sheet's own order: the server has sorted it already, by `sort` where it names a column. */
export const OWN_ORDER: SheetOrder = { by: "", down: false };

/** A click on a heading: numbers go down first, words up; the third click is the sheet's own order again. */
export function nextOrder(now: SheetOrder, column: Column, sheet: Sheet): SheetOrder {
  const first = isNumeric(column.unit) || column.unit === "flag";
  const marked = markedOrder(now, sheet);
  if (marked.by !== column.key) return { by: column.key, down: first };
  return marked.down === first ? { by: column.key, down: !first } : OWN_ORDER;
}

/** What the arrow in the heads says. */
export function markedOrder(now: SheetOrder, sheet: Sheet): SheetOrder {
  return now.by === "" && sheet.sort ? { by: sheet.sort, down: true } : now;
}

export interface Total {
  sum: number;
  /** Of the same column over all rows; 0 to 1. */
  share: number;
}

/** The sum of each column that may be added up, over the matching rows the filter. In a tree only leaves would be
 * right, and a node's own time is in no column: so trees have none. */
export function totals(tree: SheetTree, filter: SheetFilter): (Total | null)[] {
  const { columns, rows } = tree.sheet;
  if (isTree(tree)) return columns.map(() => null);
  return columns.map((column, at) => {
    if (!column.sums || !isNumeric(column.unit)) return null;
    let sum = 0;
    let all = 0;
    rows.forEach((row, index) => {
      const value = Number(row[at] ?? 0) || 0;
      all += value;
      if (!filter.kept || filter.kept.has(index)) sum += value;
    });
    return { sum, share: all > 0 ? sum / all : 0 };
  });
}

/** The largest number of each column, for the bars behind the numbers. */
export function largest(sheet: Sheet): number[] {
  return sheet.columns.map((column, at) => {
    if (!isNumeric(column.unit)) return 0;
    return sheet.rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[at] ?? 0)) || 0), 0);
  });
}
