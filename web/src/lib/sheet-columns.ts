/** Which columns of a sheet are shown, and how wide each is. */

import { formatCell, isNumeric } from "./profile-format";
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
    const keys = (list: unknown) =>
      Array.isArray(list) ? list.filter((key): key is string => typeof key === "string") : [];
    return { more: keys(found.more), less: keys(found.less) };
  } catch {
    return NO_CHOICE;
  }
}

const LETTER = 7;
const PADDING = 26;
const LOOKED_AT = 400;
/** A name that is longer than this takes no more of the room. */
const MOST_NAME = 1200;
/** A first column with words longer than this is the name of the row. */
const LONG_NAME = 24;

/** Pixels for a column: as its longest text among the first rows needs, within bounds. The name gets what is left. */
export function columnWidth(sheet: Sheet, at: number): number {
  const column = sheet.columns[at];
  if (!column) return 0;
  const indent = at === 0 && sheet.levels?.length ? 4 : 0;
  const most = isNumeric(column.unit) ? 140 : column.unit === "line" ? 260 : 240;
  const least = column.unit === "share" ? 76 : 56;
  return Math.round(Math.min(most, Math.max(least, (longest(sheet, at) + indent) * LETTER + PADDING)));
}

/** Letters of the longest text in a column, its head included. */
function longest(sheet: Sheet, at: number): number {
  const column = sheet.columns[at];
  const texts = sheet.rows.slice(0, LOOKED_AT).map((row) => (column ? formatCell(row[at], column).length : 0));
  return Math.max((column?.label.length ?? 0) + 2, ...texts);
}

/**
 * CSS grid tracks, and the least width of all of them, for CSS too. What is left is shared in proportion, so that a
 * short name never stands far from its numbers and a long one, as a kernel's, has the room. A narrow place sets `--name-most`: the name gives
 * way first.
 */
export function tracks(sheet: Sheet, shown: readonly number[]): { grid: string; least: string } {
  const widths = shown.map((at) => columnWidth(sheet, at));
  // The name is the first column, unless the sheet begins with short words, as a group's: then the one with the longest.
  const wordy = shown.map((at, index) => {
    const letters = isNumeric(sheet.columns[at]?.unit) ? -1 : longest(sheet, at);
    return index === 0 && letters > LONG_NAME ? Number.POSITIVE_INFINITY : letters;
  });
  const wide = wordy.indexOf(Math.max(...wordy));
  // on a telephone the numbers need room too
  const name = `min(${Math.min(Math.max(widths[wide] ?? 0, 180), 240)}px, 45vw, var(--name-most, 240px))`;
  const weight = Math.min(MOST_NAME, Math.max(180, longest(sheet, shown[wide] ?? 0) * LETTER + PADDING));
  const others = widths.filter((_, index) => index !== wide).reduce((sum, width) => sum + width, 0);
  return {
    grid: widths
      .map((width, index) => (index === wide ? `minmax(${name}, ${weight}fr)` : `minmax(${width}px, ${width}fr)`))
      .join(" "),
    least: `calc(${name} + ${others}px)`,
  };
}
