/** The table of ranks as bars: a bar a rank, cut into the columns that sum to its step. */

import type { Sheet, StepParts } from "./schema";

/** Null when the sheet is not of that shape. */
export function rankParts(sheet: Sheet): StepParts | null {
  const at = (...keys: string[]) => sheet.columns.findIndex((column) => keys.includes(column.key));
  const [rank, step] = [at("rank"), at("step_ns", "step")];
  const parts = sheet.columns.filter(
    (column, index) => index > step && column.unit === "ns" && !/^data/.test(column.key),
  );
  if (rank < 0 || step < 0 || parts.length === 0 || sheet.rows.length < 2) return null;
  const number = (row: readonly unknown[], index: number) => Number(row[index] ?? 0) || 0;
  return {
    id: `${sheet.id}-parts`,
    title: "The mean step of each rank",
    parts: parts.map(({ key, label, help }) => ({
      key,
      label: label.charAt(0).toUpperCase() + label.slice(1),
      help: help ?? "",
    })),
    steps: sheet.rows.map((row) => number(row, rank)),
    wall_ns: sheet.rows.map((row) => number(row, step)),
    parts_ns: sheet.rows.map((row) => parts.map((part) => number(row, sheet.columns.indexOf(part)))),
  };
}
