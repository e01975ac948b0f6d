import { expect, it } from "vitest";
import { lineOf } from "./chart-fixtures";
import { hoverRows, nearestRow, oddMarks, rowsAround } from "./chart-hover";

const window = [0, 10] as const;

it("lists every run by value, largest first, those without a number last", () => {
  const lines = [
    lineOf([1, 1], { run: "low" }),
    lineOf([null, null], { run: "none", nan: [0, 1] }),
    lineOf([9, 9], { run: "high" }),
  ];
  const rows = hoverRows(lines, 1, window);
  expect(rows.map((r) => [r.run, r.shown, r.odd])).toEqual([
    ["high", 9, ""],
    ["low", 1, ""],
    ["none", Number.NaN, "NaN"],
  ]);
});

it("leaves out a line that ended long before", () => {
  const short = lineOf([1, 2], { run: "short" });
  const long = lineOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], { run: "long" });
  expect(hoverRows([short, long], 8, window).map((r) => r.run)).toEqual(["long"]);
});

it("shows the smoothed value and keeps the raw one and the extremes", () => {
  const [row] = hoverRows([lineOf([4], { smooth: [3], low: [2], high: [8] })], 0, window);
  expect(row).toMatchObject({ shown: 3, raw: 4, low: 2, high: 8, smoothed: true });
});

it("marks the row nearest to the pointer in pixels", () => {
  const rows = hoverRows([lineOf([1], { run: "a" }), lineOf([10], { run: "b" })], 0, window);
  expect(rows[nearestRow(rows, 90, (v) => v * 10)]?.run).toBe("b");
  expect(nearestRow([], 0, (v) => v)).toBe(-1);
});

it("cuts a long list around the nearest", () => {
  const rows = Array.from({ length: 500 }, (_, i) => i);
  expect(rowsAround(rows, 250, 4)).toEqual({ above: 248, rows: [248, 249, 250, 251], below: 248 });
  expect(rowsAround(rows, 499, 4).rows).toEqual([496, 497, 498, 499]);
  expect(rowsAround([1, 2], -1, 4)).toEqual({ above: 0, rows: [1, 2], below: 0 });
});

it("says where NaN and Inf were first, and how many there are", () => {
  const line = lineOf([1, null, null, 4], { nan: [1, 2], inf: [-4] });
  expect(oddMarks([line])).toEqual({
    first: [
      { run: "a", kind: "NaN", x: 1 },
      { run: "a", kind: "−Inf", x: 3 },
    ],
    total: 3,
  });
});
