/** Comma- or tab-separated text as rows. Quotes are understood; a file that is cut off ends with what there is. */

export interface CsvRows {
  head: string[];
  rows: string[][];
  /** Rows that are not here. */
  more: number;
}

export function readCsv(text: string, most = 500): CsvRows {
  const cut = delimiterOf(text);
  const all: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  let more = 0;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || row[0] !== "") all.length <= most ? all.push(row) : more++;
    row = [];
    cell = "";
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] as string;
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') (cell += '"'), at++;
      else quoted = false;
    } else if (letter === '"' && cell === "") quoted = true;
    else if (letter === cut) row.push(cell), (cell = "");
    else if (letter === "\n") endRow();
    else if (letter !== "\r") cell += letter;
  }
  if (cell !== "" || row.length > 0) endRow();
  const [head = [], ...rows] = all;
  return { head, rows, more };
}

/** Of comma, tab and semicolon, the one that the first line has most of. */
function delimiterOf(text: string): string {
  const first = text.slice(0, 4000).split("\n", 1)[0] ?? "";
  const counts = [",", "\t", ";"].map((letter) => [letter, first.split(letter).length] as const);
  return counts.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** Whether every value of a column is a number (or empty), so that it stands at the right. */
export function isNumeric(rows: readonly (readonly string[])[], column: number): boolean {
  const values = rows.map((row) => row[column] ?? "").filter((value) => value !== "");
  return values.length > 0 && values.every((value) => value.trim() !== "" && !Number.isNaN(Number(value)));
}

/** JSON on one line is laid out; what was laid out already, or is cut off, stays as it is. */
export function tidyJson(text: string): string {
  if (text.trim().includes("\n")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
