import { expect, test } from "vitest";
import type { Sheet } from "./schema";
import { MARKDOWN_ROWS, sheetCsv, sheetMarkdown } from "./sheet-export";

const sheet: Sheet = {
  id: "modules",
  title: "Modules",
  columns: [
    { key: "name", label: "module" },
    { key: "self", label: "own", unit: "ns" },
    { key: "share", label: "share", unit: "share" },
  ],
  rows: [
    ["net", 1_500_000, 0.5],
    ["a|b *bold*", null, 0.25],
    ["=HYPERLINK(1)", 12, 0],
  ],
  levels: [0, 1, 0],
};

test("CSV has every digit, the unit in the head, the level of a tree, and no formula", () => {
  expect(sheetCsv(sheet, [0, 1, 2])).toBe(
    "level,name,self_ns,share\r\n0,net,1500000,0.5\r\n1,a|b *bold*,,0.25\r\n0,'=HYPERLINK(1),12,0\r\n",
  );
});

test("Markdown has what is seen, and nothing in it becomes markup", () => {
  expect(sheetMarkdown(sheet, [0, 1], [0, 1])).toBe(
    "| module | own |\n| --- | ---: |\n| net | 1.5 ms |\n| \u00a0\u00a0a\\|b \\*bold\\* | – |",
  );
});

test("a long table is cut, and says so", () => {
  const long: Sheet = { ...sheet, levels: [], rows: Array.from({ length: 130 }, (_, i) => [`op ${i}`, i, 0]) };
  const text = sheetMarkdown(
    long,
    long.rows.map((_, i) => i),
    [0, 1],
  );
  expect(text.split("\n").filter((line) => line.startsWith("| op"))).toHaveLength(MARKDOWN_ROWS);
  expect(text).toContain("30 more rows");
});
