import { expect, test } from "vitest";
import { binsOf, boxOf, spanOf, spreads, valued } from "./value-spread";

const row = (id: string, value: number | string | null, group: number | string | null = null) => ({
  id,
  name: id,
  cells: [value, group],
});

test("only finite numbers count, and what is left out is counted", () => {
  expect(valued([row("a", 1), row("b", "NaN"), row("c", null), row("d", 2, 0.1)])).toEqual({
    values: [
      { id: "a", name: "a", value: 1, group: "none" },
      { id: "d", name: "d", value: 2, group: "0.1" },
    ],
    left: 2,
  });
});

test("runs come largest first, groups in the order of their value", () => {
  const { values } = valued([row("a", 1, 10), row("b", 3, 2), row("c", 2, 10)]);
  expect(spreads(values, false).map(({ label }) => label)).toEqual(["b", "c", "a"]);
  expect(spreads(values, true)).toEqual([
    { label: "2", run: null, values: [3] },
    { label: "10", run: null, values: [1, 2] },
  ]);
});

test("a box has its quartiles, whiskers that end at a value, and outliers beyond them", () => {
  expect(boxOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 30])).toEqual({
    low: 1,
    q1: 3.25,
    median: 5.5,
    q3: 7.75,
    high: 9,
    outliers: [30],
  });
  expect(boxOf([2])).toEqual({ low: 2, q1: 2, median: 2, q3: 2, high: 2, outliers: [] });
  expect(boxOf([])).toBeNull();
});

test("every value is in exactly one bin, the greatest too", () => {
  const values = Array.from({ length: 101 }, (_, n) => n / 100);
  const bins = binsOf(values);
  expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(101);
  expect([bins[0]?.from, bins.at(-1)?.to]).toEqual([0, 1]);
  expect(binsOf([3, 3, 3])).toEqual([{ from: 3, to: 3, count: 3 }]);
  expect(binsOf([])).toEqual([]);
});

test("bars begin at zero, boxes near their values", () => {
  const rows = [{ label: "a", run: null, values: [10, 20] }];
  expect(spanOf(rows, true)).toEqual([0, 20]);
  expect(spanOf(rows, false)).toEqual([9.4, 20.6]);
  expect(spanOf([{ label: "a", run: null, values: [-3, -1] }], true)).toEqual([-3, 0]);
  expect(spanOf([], true)).toEqual([0, 1]);
});
