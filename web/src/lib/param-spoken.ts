/**
 * Runs and their parameters in words: the table that stands behind parallel coordinates and scatter plots for screen
 * readers.
 */

import { formatCell, visibleText } from "./format";
import { cellOf, type ParamColumn, type ParamTable } from "./param-table";

/** More rows than this nobody listens to; the Table view has all of them. */
const MOST_ROWS = 20;

export interface SpokenRuns {
  caption: string;
  head: string[];
  rows: string[][];
}

/** The runs that pass the brushes, best first, with their values in the columns that are drawn. */
export function spokenRuns(
  table: ParamTable,
  columns: readonly ParamColumn[],
  passing: Uint8Array,
  ranking: Int32Array,
): SpokenRuns {
  const kept = [...ranking].filter((run) => passing[run]);
  const left = kept.length - MOST_ROWS;
  return {
    caption: `${columns.map((column) => visibleText(column.label)).join(", ")}${left > 0 ? `, the first ${MOST_ROWS} of ${kept.length} runs` : ""}`,
    head: ["Run", ...columns.map((column) => visibleText(column.label))],
    rows: kept
      .slice(0, MOST_ROWS)
      .map((run) => [visibleText(table.names[run] ?? ""), ...columns.map((column) => cellWords(cellOf(column, run)))]),
  };
}

export const cellWords = (cell: ReturnType<typeof cellOf>): string =>
  cell === null ? "not set" : visibleText(formatCell(cell));
