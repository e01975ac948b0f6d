import { beforeAll, describe, expect, test } from "vitest";
import { loadPatterns } from "./pattern";
import { cpuMs } from "./cpu-fixtures";
import type { Sheet } from "./schema";
import {
  filterRows,
  isTree,
  largest,
  markedOrder,
  nextOrder,
  openRows,
  OWN_ORDER,
  rowsToShow,
  sheetTree,
  totals,
} from "./sheet-rows";

beforeAll(loadPatterns);

const flat: Sheet = {
  id: "operators",
  title: "Operators",
  columns: [
    { key: "name", label: "operator" },
    { key: "self_ns", label: "self", unit: "ns", sums: true },
    { key: "mean_ns", label: "mean", unit: "ns" },
    { key: "place", label: "line", unit: "line" },
  ],
  rows: [
    ["aten::mm", 300, 30, "train.py:3"],
    ["aten::copy_", 500, null, "train.py:12"],
    ["aten::add_10", 200, 20, "net.py:4"],
    ["aten::add_9", 200, 10, null],
  ],
  sort: "self_ns",
};

const tree: Sheet = {
  id: "modules",
  title: "Modules",
  columns: [
    { key: "name", label: "module" },
    { key: "ns", label: "time", unit: "ns", sums: true },
  ],
  rows: [
    ["net", 100],
    ["block", 90],
    ["norm", 10],
    ["linear", 80],
    ["head", 5],
    ["loss", 7],
  ],
  levels: [0, 1, 2, 2, 1, 0],
};

const ALL = { kept: null, hits: 0, error: null };
const names = (sheet: Sheet, rows: readonly number[]) => rows.map((row) => sheet.rows[row]?.[0]);

describe("a flat sheet", () => {
  const rows = sheetTree(flat);
  const shown = (by: string, down: boolean, text = "") =>
    names(flat, rowsToShow(rows, new Set(), { by, down }, filterRows(rows, text)));

  test("stands in the order it came in until a head is clicked", () => {
    expect(isTree(rows)).toBe(false);
    expect(shown("", false)).toEqual(["aten::mm", "aten::copy_", "aten::add_10", "aten::add_9"]);
    expect(shown("self_ns", true)).toEqual(["aten::copy_", "aten::mm", "aten::add_10", "aten::add_9"]);
  });

  test("what is not known comes last both ways, and numbers inside words count as numbers", () => {
    expect(shown("mean_ns", true).at(-1)).toBe("aten::copy_");
    expect(shown("mean_ns", false).at(-1)).toBe("aten::copy_");
    expect(shown("name", false)).toEqual(["aten::add_9", "aten::add_10", "aten::copy_", "aten::mm"]);
  });

  test("words, forbidden words and patterns are looked for in every column of words", () => {
    expect(shown("", false, "train")).toEqual(["aten::mm", "aten::copy_"]);
    expect(shown("", false, "aten !add")).toEqual(["aten::mm", "aten::copy_"]);
    expect(shown("", false, "/add_\\d$/")).toEqual(["aten::add_9"]);
    expect(shown("", false, "/add_\\d/")).toEqual(["aten::add_10", "aten::add_9"]);
    expect(shown("", false, "!/^train/")).toEqual(["aten::add_10", "aten::add_9"]);
    expect(filterRows(rows, "add")).toMatchObject({ hits: 2, error: null });
  });

  test("a broken pattern is said, and filters nothing", () => {
    const broken = filterRows(rows, "/(add/");
    expect(broken.kept).toBeNull();
    expect(broken.error).toBeTruthy();
  });

  test("only columns that may be added up have a sum, and it follows the filter", () => {
    expect(totals(rows, ALL)).toEqual([null, { sum: 1200, share: 1 }, null, null]);
    expect(totals(rows, filterRows(rows, "add"))[1]).toEqual({ sum: 400, share: 400 / 1200 });
    expect(largest(flat)).toEqual([0, 500, 30, 0]);
  });

  test("a head turns the order, and the third click is the sheet's own again", () => {
    const [name, self, mean] = flat.columns as [Sheet["columns"][0], Sheet["columns"][0], Sheet["columns"][0]];
    expect(markedOrder(OWN_ORDER, flat)).toEqual({ by: "self_ns", down: true });
    expect(nextOrder(OWN_ORDER, self, flat)).toEqual({ by: "self_ns", down: false });
    expect(nextOrder({ by: "self_ns", down: false }, self, flat)).toEqual(OWN_ORDER);
    expect(nextOrder(OWN_ORDER, mean, flat)).toEqual({ by: "mean_ns", down: true });
    expect(nextOrder(OWN_ORDER, name, flat)).toEqual({ by: "name", down: false });
  });
});

describe("a tree", () => {
  const rows = sheetTree(tree);
  const shown = (open: number[], by = "", down = false, text = "") =>
    names(tree, rowsToShow(rows, new Set(open), { by, down }, filterRows(rows, text)));

  test("shows what is open, and sorting keeps children under their parents", () => {
    expect(shown([])).toEqual(["net", "loss"]);
    expect(shown([0])).toEqual(["net", "block", "head", "loss"]);
    expect(shown([0, 1], "ns", false)).toEqual(["loss", "net", "head", "block", "norm", "linear"]);
  });

  test("opens level by level while it is short", () => {
    expect([...openRows(rows)]).toEqual([0, 1]);
    expect([...openRows(rows, 4)]).toEqual([0]);
  });

  test("a hit shows the way to it, though nothing is open", () => {
    expect(shown([], "", false, "norm")).toEqual(["net", "block", "norm"]);
    expect(filterRows(rows, "norm").hits).toBe(1);
  });

  test("has no sums: parents hold their children's", () => {
    expect(totals(rows, ALL)).toEqual([null, null]);
  });
});

test("ten thousand rows are filtered and sorted within a frame or two", () => {
  const many: Sheet = {
    ...flat,
    rows: Array.from({ length: 10_000 }, (_, i) => [`aten::op_${i}`, (i * 7919) % 10_007, i, null]),
  };
  const rows = sheetTree(many);
  const before = cpuMs();
  expect(rowsToShow(rows, new Set(), { by: "self_ns", down: true }, filterRows(rows, "op_1"))).toHaveLength(1111);
  expect(cpuMs() - before).toBeLessThan(500);
});
