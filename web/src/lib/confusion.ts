/** Confusion matrices as shares, their differences, and what they say of each class. */

import type { Confusion } from "./chart-payload";

export type Share = "count" | "row" | "column";

/** Counts as they are, or as parts of what a row (true class) or a column (predicted class) holds. */
export function shares(matrix: Confusion, how: Share): number[][] {
  const { counts } = matrix;
  if (how === "count") return counts.map((row) => [...row]);
  const rows = counts.map((row) => row.reduce((sum, n) => sum + n, 0));
  const columns = counts.map((_, j) => counts.reduce((sum, row) => sum + (row[j] as number), 0));
  return counts.map((row, i) =>
    row.map((n, j) => {
      const total = (how === "row" ? rows[i] : columns[j]) as number;
      return total > 0 ? n / total : 0;
    }),
  );
}

/** `other - base`, cell by cell; null when they have different classes. */
export function changed(base: Confusion, other: Confusion, how: Share): number[][] | null {
  if (base.labels.join("\n") !== other.labels.join("\n")) return null;
  const from = shares(base, how);
  return shares(other, how).map((row, i) => row.map((value, j) => value - ((from[i] as number[])[j] as number)));
}

export interface ClassScore {
  precision: number | null;
  recall: number | null;
  f1: number | null;
}

/** Null where nothing was predicted as the class, or nothing is of it. */
export function scoreOf(matrix: Confusion, at: number): ClassScore {
  const right = matrix.counts[at]?.[at] ?? 0;
  const of = matrix.counts[at]?.reduce((sum, n) => sum + n, 0) ?? 0;
  const as = matrix.counts.reduce((sum, row) => sum + (row[at] ?? 0), 0);
  const precision = as > 0 ? right / as : null;
  const recall = of > 0 ? right / of : null;
  const f1 = of + as > 0 ? (2 * right) / (of + as) : null;
  return { precision, recall, f1 };
}

export function accuracy(matrix: Confusion): number | null {
  const total = matrix.counts.flat().reduce((sum, n) => sum + n, 0);
  return total > 0 ? matrix.counts.reduce((sum, row, i) => sum + (row[i] as number), 0) / total : null;
}
