/** Logged tables: which rows match a search, in which order, and how wide their columns are. */

import { compareCells, type Table } from "./chart-payload";

export interface Sort {
  column: number;
  down: boolean;
}

type Test = (row: readonly unknown[]) => boolean;

const CONDITION = /^(.+?)\s*(!=|>=|<=|=|>|<|~)\s*(.*)$/;

/** The parts of a search: words and `column > value`, quotes hold spaces together. */
function parts(text: string): string[] {
  return (text.match(/(?:"[^"]*"|[^\s"])+/g) ?? []).map((part) => part.replace(/"/g, ""));
}

const bare = (cell: unknown): string =>
  cell === null || cell === undefined ? "" : typeof cell === "string" ? cell : JSON.stringify(cell);

/**
 * Rows for which every part of the search holds: `cat score>0.5 right=false`.
 * A part that names a column and compares is a condition; any other is looked for in all cells.
 */
export function filterOf(text: string, columns: readonly string[]): Test {
  const tests = parts(text).map((part) => conditionOf(part, columns) ?? wordOf(part));
  return (row) => tests.every((test) => test(row));
}

function wordOf(word: string): Test {
  const wanted = word.toLowerCase();
  return (row) => row.some((cell) => bare(cell).toLowerCase().includes(wanted));
}

function conditionOf(part: string, columns: readonly string[]): Test | null {
  const found = CONDITION.exec(part);
  if (!found) return null;
  const [, name = "", sign = "", value = ""] = found;
  const column = columns.findIndex((known) => known.toLowerCase() === name.toLowerCase());
  if (column < 0 || value === "") return null;
  const number = Number(value);
  const wanted = value.toLowerCase();
  return (row) => {
    const cell = row[column];
    if (sign === "~") return bare(cell).toLowerCase().includes(wanted);
    const same = typeof cell === "number" ? cell === number : bare(cell).toLowerCase() === wanted;
    if (sign === "=") return same;
    if (sign === "!=") return !same;
    const words =
      typeof cell === "string" && Number.isNaN(number)
        ? cell.localeCompare(value, "en", { numeric: true })
        : Number.NaN;
    const order = typeof cell === "number" ? cell - number : words;
    return sign === ">" ? order > 0 : sign === "<" ? order < 0 : sign === ">=" ? order >= 0 : order <= 0;
  };
}

/** Positions of the rows to show, in order. */
export function rowsOf(table: Table, search: string, sort: Sort | null): Uint32Array {
  const test = search.trim() ? filterOf(search, table.columns) : null;
  const kept: number[] = [];
  for (let at = 0; at < table.rows.length; at++) if (!test || test(table.rows[at] as unknown[])) kept.push(at);
  if (sort) {
    const sign = sort.down ? -1 : 1;
    const cell = (at: number) => table.rows[at]?.[sort.column];
    // Rows without a value stay at the end whichever way it is sorted.
    const none = (value: unknown) => Number(value === null || value === undefined || value === "NaN");
    kept.sort((a, b) => none(cell(a)) - none(cell(b)) || sign * compareCells(cell(a), cell(b)) || a - b);
  }
  return Uint32Array.from(kept);
}

const SAMPLE = 200;
const LETTER_PX = 7;
const LEAST_PX = 56;
const MOST_PX = 320;

/** A first width for each column, from its name and some of its cells. */
export function columnWidths(table: Table): number[] {
  const every = Math.max(1, Math.floor(table.rows.length / SAMPLE));
  return table.columns.map((name, column) => {
    let longest = name.length + 2;
    for (let at = 0; at < table.rows.length; at += every) {
      const cell = table.rows[at]?.[column];
      longest = Math.max(
        longest,
        isPicture(cell) ? 10 : typeof cell === "number" ? 9 : Math.min(60, bare(cell).length),
      );
    }
    return Math.max(LEAST_PX, Math.min(MOST_PX, 20 + longest * LETTER_PX));
  });
}

/** A cell that holds a small picture; anything else, an address on the network above all, stays text. */
export function isPicture(cell: unknown): cell is string {
  return typeof cell === "string" && /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(cell);
}
