import { describe, expect, it } from "vitest";
import { lineOf } from "./chart-fixtures";
import {
  bandStretches,
  lowerBound,
  nearestIndex,
  type Projection,
  SvgPen,
  tracePath,
  windowOf,
  xExtent,
} from "./chart-line";

const same: Projection = { x: (v) => v, y: (v) => v };

describe("a line's path", () => {
  it("breaks where a bucket has no number, and names the points that stand alone", () => {
    const line = lineOf([1, 2, null, 4, null, 6, 7]);
    const pen = new SvgPen();
    expect(tracePath(pen, line.x, line.value, [0, 7], same)).toEqual([[3, 4]]);
    expect(String(pen)).toBe("M0 1L1 2M3 4M5 6L6 7");
  });
  it("is one dot for a single point", () => {
    const line = lineOf([5]);
    expect(tracePath(new SvgPen(), line.x, line.value, [0, 1], same)).toEqual([[0, 5]]);
  });
});

it("puts a band only where the extremes differ", () => {
  const line = lineOf([1, 1, 1, null, 1, 1], { low: [1, 0, 1, null, 1, 1], high: [1, 2, 1, null, 1, 1] });
  expect(bandStretches(line, [0, 6], same)).toEqual([[0, 3]]);
});

it("keeps one bucket on each side of the window, so that lines leave the picture", () => {
  const { x } = lineOf([0, 0, 0, 0, 0, 0]);
  expect(windowOf(x, [2, 3])).toEqual([1, 5]);
  expect(windowOf(x, [-5, 99])).toEqual([0, 6]);
  expect(windowOf(x, [2.2, 2.4])).toEqual([2, 4]);
});

it("finds the nearest x by halving", () => {
  expect(lowerBound([1, 3, 5], 3)).toBe(1);
  expect([
    nearestIndex([1, 3, 5], -9),
    nearestIndex([1, 3, 5], 3.9),
    nearestIndex([1, 3, 5], 4.1),
    nearestIndex([], 1),
  ]).toEqual([0, 1, 2, -1]);
});

it("tells +Inf and -Inf apart by sign, also at index 0", () => {
  const line = lineOf([null, null, null], { inf: [0, -1, -3] });
  expect([line.posInf, line.negInf]).toEqual([[0], [0, 2]]);
});

it("knows the range of x, and the positive part of it", () => {
  expect(xExtent([lineOf([1, 2, 3]), lineOf([])])).toEqual([0, 2]);
  expect(xExtent([lineOf([1, 2, 3])], true)).toEqual([1, 2]);
  expect(xExtent([])).toBeNull();
});

it("breaks the smoothed line where the raw one has no number", () => {
  expect([...(lineOf([1, null, 3], { smooth: [1, 1, 2] }).smooth ?? [])]).toEqual([1, Number.NaN, 2]);
});
