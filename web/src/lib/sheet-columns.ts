/** Which columns of a sheet are shown, and how wide each is. */

import { formatUnit, isNumeric } from "./profile-format";
import type { Column, Sheet } from "./schema";

/** Changes to what a sheet shows by itself: keys that are shown though hidden, and hidden though shown. */
export interface Choice {
  more: readonly string[];
  less: readonly string[];
}

export const NO_CHOICE: Choice = { more: [], less: [] };

/** The indices of the columns on the screen. The first column names the row and always stays. */
export function shownColumns(columns: readonly Column[], choice: Choice): number[] {
  return columns.flatMap((column, at) => (at === 0 || isShown(column, choice) ? [at] : []));
}

export function isShown(column: Column, choice: Choice): boolean {
  return column.hidden ? choice.more.includes(column.key) : !choice.less.includes(column.key);
}

export function toggled(column: Column, choice: Choice): Choice {
  const flip = (keys: readonly string[]) =>
    keys.includes(column.key) ? keys.filter((key) => key !== column.key) : [...keys, column.key];
  return column.hidden ? { ...choice, more: flip(choice.more) } : { ...choice, less: flip(choice.less) };
}

export function readChoice(stored: string | null): Choice {
  try {
    const found = JSON.parse(stored ?? "") as Partial<Choice>;
    const keys = (list: unknown) => (Array.isArray(list) ? list.filter((key): key is string => typeof key === "string") : []);
    return { more: keys(found.more), less: keys(found.less) };
  } catch {
    return NO_CHOICE;
  }
}

const LETTER = 6.6;
const PADDING = 26;
const LOOKED_AT = 400;

/** Pixels for a column: as its longest text among the first rows needs, within bounds. The name gets what is left. */
export function columnWidth(sheet: Sheet, at: number): number {
  const column = sheet.columns[at];
  if (!column) return 0;
  const head = column.label.length + 2;
  let longest = head;
  for (const row of sheet.rows.slice(0, LOOKED_AT)) longest = Math.max(longest, formatUnit(row[at], column.unit).length);
  const most = isNumeric(column.unit) ? 140 : column.unit === "line" ? 260 : 240;
  const least = column.unit === "share" ? 76 : 56;
  return Math.round(Math.min(most, Math.max(least, longest * LETTER + PADDING)));
}

/** CSS grid tracks and the least width of all of them. */
export function tracks(sheet: Sheet, shown: readonly number[]): { grid: string; least: number } {
  const name = Math.min(520, Math.max(180, columnWidth(sheet, shown[0] ?? 0)));
  const least = Math.min(name, 220);
  const others = shown.slice(1).map((at) => columnWidth(sheet, at));
  return {
    grid: [`minmax(${least}px, 1fr)`, ...others.map((width) => `${width}px`)].join(" "),
    least: least + others.reduce((sum, width) => sum + width, 0),
  };
}
