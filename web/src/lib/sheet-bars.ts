/** A sheet whose rows are parts of one whole, as the slices of a bar. */

import type { Column, Sheet } from "./schema";
import { isTree, sheetTree } from "./sheet-rows";

export interface SheetSlice {
  row: number;
  name: string;
  value: number;
  share: number;
}

export interface SheetSlices {
  column: Column;
  /** Of a tree: the root whose parts these are; else "". */
  of: string;
  slices: SheetSlice[];
}

/** By the column it is sorted by, else its total or first amount of time or bytes. Rows beyond `most` become one. Of a tree it is
 * the largest root that is cut. */
export function sheetSlices(sheet: Sheet, most = 8): SheetSlices | null {
  const amounts = sheet.columns.filter((column) => column.unit === "ns" || column.unit === "bytes");
  const column =
    amounts.find((one) => one.key === sheet.sort) ?? amounts.find((one) => one.key.startsWith("total")) ?? amounts[0];
  if (!column) return null;
  const at = sheet.columns.indexOf(column);
  const called = telling(sheet);
  const all = sheet.rows.map((cells, row) => ({
    row,
    name: String(cells[called] ?? ""),
    value: Math.max(0, Number(cells[at] ?? 0) || 0),
  }));
  const tree = sheetTree(sheet);
  const root = isTree(tree)
    ? [...tree.roots].sort((a, b) => (all[b]?.value ?? 0) - (all[a]?.value ?? 0))[0]
    : undefined;
  const found = (root === undefined ? tree.roots : (tree.children[root] ?? []))
    .flatMap((row) => all[row] ?? [])
    .filter((one) => one.value > 0)
    .sort((a, b) => b.value - a.value);
  const whole = found.reduce((sum, one) => sum + one.value, 0);
  if (whole <= 0) return null;
  const named = found.length > most ? found.slice(0, most - 1) : found;
  const rest = found.slice(named.length);
  const slices = named.map((one) => ({ ...one, share: one.value / whole }));
  if (rest.length > 0) {
    const value = rest.reduce((sum, one) => sum + one.value, 0);
    slices.push({ row: -1, name: `${rest.length} others`, value, share: value / whole });
  }
  return { column, of: root === undefined ? "" : (all[root]?.name ?? ""), slices };
}

/** The column of words that tells the rows apart best: the first, unless it says the same of many. */
function telling(sheet: Sheet): number {
  const words = sheet.columns.flatMap((column, at) => (at === 0 || (column.unit ?? "text") === "text" ? [at] : []));
  const different = words.map((at) => new Set(sheet.rows.map((row) => row[at])).size);
  return sheet.levels?.length ? 0 : (words[different.indexOf(Math.max(...different))] ?? 0);
}
