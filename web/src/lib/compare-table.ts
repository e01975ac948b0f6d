/** The metric table: the change against a baseline, which rows to show and in which order, how numbers are written. */

import { formatNumber } from "./format";
import type { Cell, MetricRow } from "./schema";

/** How a value differs from the baseline's. */
export interface Change {
  absolute: number;
  /** Of the baseline's value; null where that is 0. */
  relative: number | null;
  /** Whether that way is good; null where no way is known to be, or nothing changed. */
  better: boolean | null;
}

export function changeOf(row: MetricRow, column: number, base: number): Change | null {
  const value = row.value[column];
  const from = row.value[base];
  if (column === base || typeof value !== "number" || typeof from !== "number") return null;
  const absolute = value - from;
  if (!Number.isFinite(absolute)) return null;
  const better = row.goal === null || absolute === 0 ? null : absolute < 0 === (row.goal === "min");
  return { absolute, relative: from === 0 ? null : absolute / Math.abs(from), better };
}

/** `+0.0304 (+3.6%)`; the parts are told apart by the reader's eye, so the percentage keeps few digits. */
export function changeWords({ absolute, relative }: Change): string {
  if (absolute === 0) return "the same";
  const percent = relative === null ? "" : ` (${percentWords(relative)})`;
  return `${absolute > 0 ? "+" : ""}${formatNumber(absolute, 3)}${percent}`;
}

export function percentWords(share: number): string {
  const percent = 100 * share;
  if (Math.abs(percent) < 0.05) return percent < 0 ? "−0%" : "+0%";
  if (Math.abs(percent) >= 1000) return `×${formatNumber(1 + share, 3)}`;
  return `${share > 0 ? "+" : "−"}${Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0)}%`;
}

/** `0.8504 ± 0.0022`: as many digits as the spread bears. Without a spread the value alone. */
export function valueWords(value: Cell | undefined, std: number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value === "Infinity" ? "∞" : value === "-Infinity" ? "−∞" : value;
  if (typeof value === "boolean") return String(value);
  if (std === null || std === undefined || !Number.isFinite(std)) return formatNumber(value);
  if (std === 0) return `${formatNumber(value)} ± 0`;
  const decimals = 1 - Math.floor(Math.log10(std));
  const large = Math.max(Math.abs(value), std);
  if (decimals < 0 || decimals > 6 || large >= 1e6) return `${formatNumber(value)} ± ${formatNumber(std, 2)}`;
  return `${value.toFixed(decimals)} ± ${std.toFixed(decimals)}`.replace(/-/g, "−");
}

/** `p 0.03`, `p < 0.001`. */
export function pWords(p: number): string {
  if (p < 0.001) return "p < 0.001";
  return `p ${p
    .toFixed(p < 0.0995 ? 3 : 2)
    .replace(/0+$/, "")
    .replace(/\.$/, "")}`;
}

/** Beyond chance, by the usual line; after the correction for many tests. */
export const CLEAR = 0.05;

export interface Order {
  /** A column's place, "name", or "" for what matters first. */
  by: "" | "name" | number;
  descending: boolean;
}
export const OWN_ORDER: Order = { by: "", descending: true };

/** The rows that fit the search, in order. By a column: the largest change against the baseline first. */
export function shownRows(
  rows: readonly MetricRow[],
  find: string,
  onlyDiffering: boolean,
  order: Order,
  base: number,
): MetricRow[] {
  const wanted = find.trim().toLowerCase();
  const fits = rows.filter(
    (row) => (!onlyDiffering || row.differs) && (!wanted || row.key.toLowerCase().includes(wanted)),
  );
  if (order.by === "") return fits;
  const sign = order.descending ? -1 : 1;
  if (order.by === "name") return [...fits].sort((a, b) => sign * a.key.localeCompare(b.key, "en", { numeric: true }));
  const column = order.by;
  const weight = (row: MetricRow): number => {
    const change = changeOf(row, column, base);
    return change ? Math.abs(change.relative ?? (change.absolute === 0 ? 0 : Number.MAX_VALUE)) : -1;
  };
  return [...fits].sort((a, b) => sign * (weight(a) - weight(b)));
}

/** A click on a heading: down, up, and back to what matters first. */
export function nextOrder(now: Order, by: Order["by"]): Order {
  if (now.by !== by) return { by, descending: by !== "name" };
  const first = by !== "name";
  return now.descending === first ? { by, descending: !first } : OWN_ORDER;
}
