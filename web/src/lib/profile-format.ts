/** Numbers of a profile as people read them, by the unit that their column or curve names. */

import { formatBytes, formatNumber } from "./format";
import type { Column, Unit } from "./schema";

/** Three digits: `850 ns`, `12.4 µs`, `3.1 ms`, `2.05 s`, `3.4 min`. */
export function formatNs(ns: number): string {
  if (!Number.isFinite(ns)) return "–";
  const size = Math.abs(ns);
  if (size < 999.5) return `${formatNumber(round(ns))} ns`;
  if (size < 999_500) return `${formatNumber(round(ns / 1e3))} µs`;
  if (size < 999_500_000) return `${formatNumber(round(ns / 1e6))} ms`;
  if (size < 119.5e9) return `${formatNumber(round(ns / 1e9))} s`;
  return `${formatNumber(round(ns / 60e9))} min`;
}

const round = (value: number): number => Number(value.toPrecision(3));

/** `83%`, `4.2%`, `0.3%`, `<0.1%`: never a zero for what is not zero. */
export function formatShare(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const percent = share * 100;
  if (percent !== 0 && Math.abs(percent) < 0.05) return percent < 0 ? "−<0.1%" : "<0.1%";
  const digits = Math.abs(percent) < 9.95 ? 1 : 0;
  return `${percent.toFixed(digits).replace(/\.0$/, "").replace("-", "−")}%`;
}

/** `1.2 TFLOP`, `940 MFLOP`. */
export function formatFlops(value: number): string {
  const units: readonly [number, string][] = [
    [1e18, "E"],
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ]; // prettier-ignore
  for (const [size, letter] of units)
    if (Math.abs(value) >= size * 0.9995) return `${formatNumber(round(value / size))} ${letter}FLOP`;
  return `${formatNumber(round(value))} FLOP`;
}

export function formatFactor(value: number): string {
  return `${formatNumber(Number(value.toPrecision(value < 10 ? 2 : 3)))}×`;
}

/** A cell of a sheet. What is not known is a dash, never a zero. */
export function formatUnit(value: unknown, unit: Unit = "text"): string {
  if (value === null || value === undefined) return "–";
  if (unit === "flag") return value === true ? "yes" : value === false ? "no" : String(value);
  if (typeof value !== "number") return typeof value === "string" ? value : String(value);
  switch (unit) {
    case "ns":
      return formatNs(value);
    case "bytes":
      return formatBytes(value);
    case "share":
      return formatShare(value);
    case "flops":
      return formatFlops(value);
    case "factor":
      return formatFactor(value);
    case "count":
      return Number.isInteger(value) && Math.abs(value) < 1e7
        ? value.toLocaleString("en-US").replace("-", "−")
        : formatNumber(value);
    default:
      return formatNumber(value, 3);
  }
}

const LONG_PLACE = 34;

/** The end of a long path is what tells places apart: `…/json/encoder.py:205`. */
export function shortPlace(place: string): string {
  if (place.length <= LONG_PLACE) return place;
  const parts = place.split(/[\\/]/);
  const end = parts.slice(-2).join("/");
  return parts.length <= 2 ? place : `…/${end.length <= LONG_PLACE ? end : parts[parts.length - 1]}`;
}

/** A cell under its column: a long place is shortened, a rate of arithmetic says that it is one. */
export function formatCell(value: unknown, column: Column): string {
  const text = formatUnit(value, column.unit);
  if (column.unit === "line") return shortPlace(text);
  return column.unit === "flops" && typeof value === "number" && /(\/s|per second)$/.test(column.label)
    ? `${text}/s`
    : text;
}

const EXACT: Partial<Record<Unit, string>> = { ns: " ns", bytes: " bytes", flops: " FLOP" };

/** All the digits, for the tooltip: `12,345,678 ns`. */
export function exactUnit(value: unknown, unit: Unit = "text"): string {
  if (typeof value !== "number") return formatUnit(value, unit);
  if (unit === "share") return `${formatNumber(value * 100, 6)}%`;
  if (unit === "factor") return `${formatNumber(value, 6)}×`;
  const digits = Number.isInteger(value) ? value.toLocaleString("en-US") : formatNumber(value, 8);
  return `${digits.replace("-", "−")}${EXACT[unit] ?? ""}`;
}

/** Numbers stand at the right, words at the left. */
export function isNumeric(unit: Unit = "text"): boolean {
  return unit !== "text" && unit !== "line" && unit !== "flag";
}
