import { expect, test } from "vitest";
import type { Column, Sheet } from "./schema";
import { columnWidth, isShown, NO_CHOICE, readChoice, shownColumns, toggled, tracks } from "./sheet-columns";

const columns: Column[] = [
  { key: "where", label: "where" },
  { key: "what", label: "what" },
  { key: "ns", label: "time", unit: "ns" },
  { key: "min", label: "min", unit: "ns", hidden: true },
];
const sheet: Sheet = {
  id: "s",
  title: "S",
  columns,
  rows: [
    ["host", "between operators (Python), and a good deal of it", 1200, 1],
    ["host", "aten::mm", 1, 1],
  ],
};

test("hidden columns come when asked for, shown ones go, and the first stays", () => {
  expect(shownColumns(columns, NO_CHOICE)).toEqual([0, 1, 2]);
  const more = toggled(columns[3] as Column, NO_CHOICE);
  expect(shownColumns(columns, more)).toEqual([0, 1, 2, 3]);
  const less = toggled(columns[2] as Column, more);
  expect(shownColumns(columns, less)).toEqual([0, 1, 3]);
  expect(toggled(columns[2] as Column, less)).toEqual(more);
  expect(shownColumns(columns, { more: [], less: ["where"] })).toEqual([0, 1, 2]);
  expect(isShown(columns[3] as Column, more)).toBe(true);
});

test("what the browser kept is read, whatever it is", () => {
  expect(readChoice('{"more":["min",3],"less":"x"}')).toEqual({ more: ["min"], less: [] });
  expect(readChoice("nonsense")).toEqual(NO_CHOICE);
  expect(readChoice(null)).toEqual(NO_CHOICE);
});

test("columns share what is left in proportion, and the one with the longest words gets the most", () => {
  const { grid, least } = tracks(sheet, [0, 1, 2]);
  expect(grid).toMatch(
    /^minmax\(75px, 75fr\) minmax\(min\(240px, 45vw, var\(--name-most, 240px\)\), 369fr\) minmax\(68px, 68fr\)$/,
  );
  expect(least).toBe(
    `calc(min(240px, 45vw, var(--name-most, 240px)) + ${columnWidth(sheet, 0) + columnWidth(sheet, 2)}px)`,
  );
  const short: Sheet = { ...sheet, rows: [["aten::convolution_backward", "conv", 1, 1]] };
  expect(tracks(short, [0, 1, 2]).grid).toMatch(/^minmax/);
});
