/** The table of a run's metrics: which rows, in which order. */

import { formatCell } from "./format";
import type { Cell, SummaryValue } from "./schema";

export type MetricColumn = "key" | "last" | "min" | "max" | "mean" | "points";
export interface MetricOrder {
  /** null: the server's order, what matters first. */
  by: MetricColumn | null;
  down: boolean;
}

/** A click on a heading: down (names up) first, then the other way, then back to the order of what matters. */
export function nextOrder({ by, down }: MetricOrder, column: MetricColumn): MetricOrder {
  const first = column !== "key";
  if (by !== column) return { by: column, down: first };
  return down === first ? { by: column, down: !first } : { by: null, down: false };
}

/** Numbers by size, what is no number last, whichever way. */
export function sortMetrics(values: readonly SummaryValue[], { by, down }: MetricOrder): SummaryValue[] {
  if (by === null) return [...values];
  const way = down ? -1 : 1;
  if (by === "key") return [...values].sort((a, b) => way * a.key.localeCompare(b.key, "en", { numeric: true }));
  return [...values].sort((a, b) => compare(a[by], b[by], way));
}

function compare(a: Cell, b: Cell, way: number): number {
  const [one, two] = [sizeOf(a), sizeOf(b)];
  if (one === null || two === null) return one === two ? 0 : one === null ? 1 : -1;
  return way * (one - two);
}

function sizeOf(value: Cell): number | null {
  return typeof value === "number" ? value : null;
}

export function searchMetrics(values: readonly SummaryValue[], words: string): SummaryValue[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return values.filter((value) => wanted.every((word) => value.key.toLowerCase().includes(word)));
}

/** What stands for a metric that was only set by hand. */
export function lastOf(value: SummaryValue): Cell {
  return value.points > 0 ? value.last : value.chosen;
}

export const isOdd = (value: Cell): boolean => value === "NaN" || value === "Infinity" || value === "-Infinity";

/** The table as tab-separated text, for a sheet. */
export function metricsText(values: readonly SummaryValue[]): string {
  const rows = values.map((one) =>
    [one.key.replace(/[\t\n\r]/g, " "), lastOf(one), one.min, one.max, one.mean, one.points].map((cell) =>
      typeof cell === "number" ? String(cell) : formatCell(cell),
    ),
  );
  return `${[["name", "last", "min", "max", "mean", "points"], ...rows].map((row) => row.join("\t")).join("\n")}\n`;
}
