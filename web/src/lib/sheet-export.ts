/** A sheet as text for elsewhere: Markdown as it is on the screen, CSV with every digit. */

import { tableCsv } from "./chart-csv";
import { formatUnit, isNumeric } from "./profile-format";
import type { Sheet } from "./schema";

/** Column keys as heads, so that a script finds them again; numbers in their base unit. */
export function sheetCsv(sheet: Sheet, rows: readonly number[]): string {
  const levels = sheet.levels ?? [];
  const heads = [
    ...(levels.length ? ["level"] : []),
    ...sheet.columns.map((column) => withUnit(column.key, column.unit)),
  ];
  const cells = rows.map((row) => [...(levels.length ? [levels[row] ?? 0] : []), ...(sheet.rows[row] ?? [])]);
  return tableCsv(heads, cells);
}

/** `self_host` in ns becomes `self_host_ns`, unless the key says so itself. */
function withUnit(key: string, unit: string | undefined): string {
  return (unit === "ns" || unit === "bytes") && !key.endsWith(unit) ? `${key}_${unit}` : key;
}

export const MARKDOWN_ROWS = 100;

/** What is seen, ready to be pasted into an issue; the first hundred rows. */
export function sheetMarkdown(sheet: Sheet, rows: readonly number[], columns: readonly number[]): string {
  const used = columns.map((at) => sheet.columns[at]).filter((column) => column !== undefined);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const body = rows.slice(0, MARKDOWN_ROWS).map((row) => {
    const indent = "\u00a0\u00a0".repeat(sheet.levels?.[row] ?? 0);
    return line(
      columns.map(
        (at, index) => (index ? "" : indent) + cell(formatUnit(sheet.rows[row]?.[at], sheet.columns[at]?.unit)),
      ),
    );
  });
  const more = rows.length > MARKDOWN_ROWS ? [`\n${rows.length - MARKDOWN_ROWS} more rows`] : [];
  return [
    line(used.map((column) => cell(column.label))),
    line(used.map((column) => (isNumeric(column.unit) ? "---:" : "---"))),
    ...body,
    ...more,
  ].join("\n");
}

/** Text inside a Markdown table cell: nothing in it ends the cell or becomes markup. */
function cell(text: string): string {
  return text.replace(/[\r\n]+/g, " ").replace(/[\\|`*_<>[\]]/g, "\\$&");
}
