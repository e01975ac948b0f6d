/** A panel's lines as CSV. Names come from runs, so nothing in them may start a formula in a spreadsheet. */

import type { PlotLine } from "./chart-line";

/** A text cell: quoted where needed; a leading character that Excel or Sheets would run gets an apostrophe. */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t\r\n|%]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replace(/"/g, '""')}"` : safe;
}

const csvNumber = (value: number | undefined): string =>
  value === undefined || !Number.isFinite(value) ? "" : String(value);

function note(line: PlotLine, index: number): string {
  const found = [
    line.nan.includes(index) && "NaN",
    line.posInf.includes(index) && "Inf",
    line.negInf.includes(index) && "-Inf",
  ];
  return csvText(found.filter(Boolean).join(" "));
}

/** One row per bucket; `points` on the screen may stand for many logged ones, so their extremes are columns too. */
export function linesCsv(lines: readonly PlotLine[], xName: string, nameOf: (run: string) => string): string {
  const rows = [
    ["run", "name", "metric", "rank", xName, "value", "smoothed", "min", "max", "not_finite"].map(csvText).join(","),
  ];
  for (const line of lines) {
    const head = [line.run, nameOf(line.run), line.key].map(csvText).join(",");
    for (let i = 0; i < line.x.length; i++) {
      const numbers = [line.x[i], line.value[i], line.smooth?.[i], line.low[i], line.high[i]].map(csvNumber);
      rows.push(`${head},${line.rank},${numbers.join(",")},${note(line, i)}`);
    }
  }
  return `${rows.join("\r\n")}\r\n`;
}

/** Any table of cells as CSV. */
export function tableCsv(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cell = (value: unknown): string =>
    typeof value === "number" ? csvNumber(value) : csvText(value === null || value === undefined ? "" : String(value));
  return `${[columns.map(csvText), ...rows.map((r) => r.map(cell))].map((r) => r.join(",")).join("\r\n")}\r\n`;
}
