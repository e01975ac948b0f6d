import { describe, expect, test } from "vitest";
import type { Lane } from "./schema";
import { depthAt } from "./timeline-hit";
import { closedAtFirst, heightOf, type LaneRow, layRows, rowAt, rowsIn, type Source } from "./timeline-rows";

const lane = (id: number, group: number, depths: number): Lane => ({
  id,
  name: `lane ${id}`,
  group,
  kind: "host",
  events: 1,
  depths,
  outer: 0,
  busy_ns: 1,
  quiet: id === 99,
});
const source: Source = {
  rank: 0,
  lanes: [lane(7, 0, 3), lane(8, 0, 1), lane(9, 1, 2)],
  groups: [
    { name: "python", kind: "host" },
    { name: "Spans", kind: "profiler" },
  ],
}; // prettier-ignore

describe("rows", () => {
  test("stand below each other, groups with a head", () => {
    const rows = layRows([source], new Set());
    expect(rows.map((row) => [row.id, row.top, row.height])).toEqual([
      ["0.g0", 0, 26],
      ["0.7", 26, 60],
      ["0.8", 86, 24],
      ["0.g1", 110, 26],
      ["0.9", 136, 42],
    ]); // prettier-ignore
    expect(heightOf(rows)).toBe(178);
  });

  test("closed groups and lanes take less room", () => {
    const rows = layRows([source], new Set(["0.g1", "0.7"]));
    expect(rows.map((row) => row.id)).toEqual(["0.g0", "0.7", "0.8", "0.g1"]);
    expect(rows[1]?.height).toBe(24);
    const marked = layRows([{ ...source, lanes: [{ ...lane(7, 0, 3), outer: 1 }] }], new Set(["0.7"]))[1] as LaneRow;
    expect([marked.first, depthAt(marked, marked.top + 5)]).toEqual([1, 1]);
  });

  test("are found by their height", () => {
    const rows = layRows([source], new Set());
    expect([0, 25, 26, 100, 9999, -5].map((y) => rows[rowAt(rows, y)]?.id)).toEqual([
      "0.g0",
      "0.g0",
      "0.7",
      "0.8",
      "0.9",
      "0.g0",
    ]);
    expect(rowsIn(rows, 90, 120).map((row) => row.id)).toEqual(["0.8", "0.g1"]);
    expect(rowsIn([], 0, 100)).toEqual([]);
  });

  test("lines of a lane are found by their height", () => {
    const row = layRows([source], new Set())[1] as LaneRow;
    expect([26, 29, 46, 47, 65, 85].map((y) => depthAt(row, y))).toEqual([-1, 0, 0, 1, 2, -1]);
  });

  test("the profiler's own lanes are closed at first, and deep ones where there are many", () => {
    expect([...closedAtFirst([source])]).toEqual(["0.g1"]);
    expect([...closedAtFirst([{ ...source, lanes: [lane(99, 0, 5)] }])]).toEqual(["0.g1", "0.99"]);
    const many = { ...source, lanes: Array.from({ length: 90 }, (_, at) => lane(at, 0, at === 5 ? 9 : 2)) };
    expect([...closedAtFirst([many])]).toEqual(["0.g1", "0.5"]);
  });
});
