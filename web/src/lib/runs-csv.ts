/** Rows of the runs table as CSV: what a spreadsheet opens, with nothing in it that a spreadsheet would run. */

import type { RunRow } from "./schema";

type Value = string | number | boolean | null | undefined;

export function csvOf(
  keys: readonly string[],
  labelOf: (key: string) => string,
  rows: readonly RunRow[],
  asked: readonly string[],
): string {
  const places = new Map(asked.map((key, at) => [key, at]));
  const head = ["id", "name", ...keys.map(labelOf)];
  const lines = rows.map((row) => [row.id, row.name, ...keys.map((key) => own(row, key, places))]);
  return `${[head, ...lines].map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
}

function own(row: RunRow, key: string, places: ReadonlyMap<string, number>): Value {
  switch (key) {
    case "status":
      return row.status;
    case "created":
      return Number.isFinite(row.created) ? new Date(row.created * 1000).toISOString() : "";
    case "duration":
      return row.duration_s;
    case "tags":
      return row.tags.join(" ");
    case "notes":
      return row.notes;
    case "project":
      return row.project;
    default:
      return row.cells[places.get(key) ?? -1];
  }
}

/** A text that begins like a formula gets an apostrophe before it: a run's name must not compute anything. */
function cell(value: Value): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) && !/^[+-]?(\d|Infinity)/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
