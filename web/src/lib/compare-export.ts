/** The metric table for elsewhere: CSV with every digit, Markdown and LaTeX as it is read. */

import { tableCsv } from "./chart-csv";
import { changeOf, changeWords, pWords, valueWords } from "./compare-table";
import type { MetricRow } from "./schema";

export interface ExportedTable {
  columns: readonly string[];
  base: number;
  rows: readonly MetricRow[];
  /** Columns are groups of runs. */
  grouped: boolean;
}

/** One row per metric; of every column its value, and against the baseline the change and the p-values. */
export function metricsCsv({ columns, base, rows, grouped }: ExportedTable): string {
  const heads = columns.flatMap((name, at) => [
    name,
    ...(grouped ? [`${name} std`, `${name} n`] : []),
    ...(at === base
      ? []
      : [`${name} change`, `${name} change %`, ...(grouped ? [`${name} p`, `${name} p (Holm)`] : [])]),
  ]);
  const cells = rows.map((row) => [
    row.key,
    row.goal ?? "",
    row.stat,
    ...columns.flatMap((_, at) => {
      const change = changeOf(row, at, base);
      const percent = change?.relative === null || change === null ? null : 100 * change.relative;
      return [
        row.value[at],
        ...(grouped ? [row.std[at], row.n[at]] : []),
        ...(at === base ? [] : [change?.absolute, percent, ...(grouped ? [row.p[at], row.p_holm[at]] : [])]),
      ];
    }),
  ]);
  return tableCsv(["metric", "goal", "statistic", ...heads], cells);
}

export function metricsMarkdown(table: ExportedTable): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const heads = [
    "Metric",
    ...table.columns.map((name, at) => markdownText(name) + (at === table.base ? " (baseline)" : "")),
  ];
  const body = table.rows.map((row) =>
    line([
      markdownText(row.key) + (row.goal ? (row.goal === "min" ? " ↓" : " ↑") : ""),
      ...table.columns.map((_, at) => {
        const shown = markdownText(cellWords(row, at, table.base));
        return isBest(row, at) ? `**${shown}**` : shown;
      }),
    ]),
  );
  return [line(heads), line(["---", ...table.columns.map(() => "---:")]), ...body].join("\n");
}

/** A `tabular` with booktabs rules, to be pasted into a paper. */
export function metricsLatex(table: ExportedTable): string {
  const heads = [
    "Metric",
    ...table.columns.map((name, at) => latexText(name) + (at === table.base ? " (baseline)" : "")),
  ];
  const body = table.rows.map((row) => {
    const arrow = row.goal ? (row.goal === "min" ? " $\\downarrow$" : " $\\uparrow$") : "";
    const cells = table.columns.map((_, at) => {
      const shown = latexText(valueWords(row.value[at], row.std[at])).replace(" ± ", " $\\pm$ ");
      return isBest(row, at) ? `\\textbf{${shown}}` : shown;
    });
    return `${[latexText(row.key) + arrow, ...cells].join(" & ")} \\\\`;
  });
  return [
    `\\begin{tabular}{l${"r".repeat(table.columns.length)}}`,
    "\\toprule",
    `${heads.join(" & ")} \\\\`,
    "\\midrule",
    ...body,
    "\\bottomrule",
    "\\end{tabular}",
  ].join("\n");
}

export const isBest = (row: MetricRow, column: number): boolean => row.best !== null && row.value[column] === row.best;

function cellWords(row: MetricRow, at: number, base: number): string {
  const change = changeOf(row, at, base);
  const p = row.p_holm[at];
  const aside = [change ? changeWords(change) : "", p === null || p === undefined ? "" : pWords(p)]
    .filter(Boolean)
    .join(", ");
  return valueWords(row.value[at], row.std[at]) + (aside ? ` · ${aside}` : "");
}

/** Text inside a Markdown table cell: nothing in it ends the cell or becomes markup. */
function markdownText(text: string): string {
  return text.replace(/[\r\n]+/g, " ").replace(/[\\|`*_<>[\]]/g, "\\$&");
}

const LATEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "−": "$-$",
  "∞": "$\\infty$",
  "<": "$<$",
  ">": "$>$",
};

function latexText(text: string): string {
  return text.replace(/[\r\n]+/g, " ").replace(/[\\~^−∞<>]|[&%$#_{}]/g, (letter) => LATEX[letter] ?? `\\${letter}`);
}
