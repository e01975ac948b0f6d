import { describe, expect, test } from "vitest";
import {
  arrange,
  gravest,
  isAllBad,
  nothingFinite,
  percentileOf,
  rangeOf,
  rowAt,
  shareAtZero,
  stepsOf,
} from "./distributions";
import type { DistributionCell, DistributionLayer } from "./schema";

const cell = (more: Partial<DistributionCell>): DistributionCell => ({
  run: "a",
  family: "weights",
  key: "weights/x",
  count: 2,
  first_step: 0,
  last_step: 10,
  low: -1,
  high: 1,
  mean: 0,
  std: 1,
  moved: 0,
  stuck: 0,
  bad: 0,
  ...more,
}); // prettier-ignore
const layer = (name: string, ...cells: Partial<DistributionCell>[]): DistributionLayer => ({
  name,
  cells: cells.map(cell),
});
const names = (layers: readonly DistributionLayer[]) => layers.map((one) => one.name);
const all = () => true;

describe("layers", () => {
  const layers = [
    layer("fc.10", { moved: 0.1, std: 3 }),
    layer("fc.2", { moved: null, stuck: 0.9 }),
    layer("conv", { moved: 2, bad: 4 }),
  ];
  test("come in the asked order, what is unknown last", () => {
    expect(names(arrange(layers, "", "model", all))).toEqual(["fc.10", "fc.2", "conv"]);
    expect(names(arrange(layers, "", "name", all))).toEqual(["conv", "fc.2", "fc.10"]);
    expect(names(arrange(layers, "", "moved", all))).toEqual(["conv", "fc.10", "fc.2"]);
    expect(names(arrange(layers, "", "stuck", all))[0]).toBe("fc.2");
    expect(names(arrange(layers, "", "bad", all))[0]).toBe("conv");
    expect(names(arrange(layers, "", "wide", all))[0]).toBe("fc.10");
  });
  test("what is wrong comes first: not finite, exploding, dead; the rest as in the model", () => {
    const some = [
      layer("fine", {}),
      layer("dead", { stuck: 0.99 }),
      layer("fine too", {}),
      layer("explodes", { moved: 40 }),
      layer("nan", { bad: 1 }),
    ];
    expect(names(arrange(some, "", "wrong", all))).toEqual(["nan", "explodes", "dead", "fine", "fine too"]);
    expect(gravest([cell({ stuck: 0.99 }), cell({ bad: 3 })])?.words).toBe("3 NaN or ∞ in the weights");
    expect(gravest([cell({})])).toBeNull();
  });
  test("are found by words of their name or key, and only where a shown cell is", () => {
    expect(names(arrange(layers, "FC 2", "model", all))).toEqual(["fc.2"]);
    expect(names(arrange(layers, "weights/", "model", all))).toHaveLength(3);
    expect(arrange(layers, "", "model", (one) => one.family === "gradients")).toEqual([]);
  });
  test("only the shown cells decide", () => {
    const two = [layer("a", { moved: 9, family: "gradients" }, { moved: 0 }), layer("b", { moved: 1 })];
    expect(names(arrange(two, "", "moved", (one) => one.family === "weights"))).toEqual(["b", "a"]);
  });
});

test("ranges hold all cells that have one", () => {
  expect(rangeOf([cell({ low: -3, high: 0 }), cell({ low: null, high: null }), cell({})])).toEqual([-3, 1]);
  expect(rangeOf([cell({ low: null, high: null })])).toBeNull();
  expect(stepsOf([layer("a", { first_step: 5, last_step: 9 }, { first_step: 7, last_step: 40 })])).toEqual([5, 40]);
  expect(stepsOf([])).toBeNull();
});

test("a step marks the newest row at or before it", () => {
  expect([rowAt([0, 10, 20], 15), rowAt([0, 10, 20], 20), rowAt([5], 1), rowAt([], 3), rowAt([1], null)]).toEqual([
    1,
    2,
    0,
    null,
    null,
  ]);
});

describe("one histogram", () => {
  test("percentiles spread a bin's content evenly", () => {
    expect(percentileOf([0, 1, 2], [1, 3], 0.5)).toBeCloseTo(1 + 1 / 3);
    expect(percentileOf([0, 1, 2], [0, 4], 0)).toBe(1);
    expect(percentileOf([0, 1, 2], [4, 0], 1)).toBe(1);
    expect(percentileOf([0, 1], [0], 0.5)).toBeNaN();
  });
  test("the share at zero is of the bin that holds it", () => {
    expect(shareAtZero([0, 1, 2], [3, 1])).toBe(0.75);
    expect(shareAtZero([-1, 0], [2])).toBe(1);
    expect(shareAtZero([1, 2], [2])).toBeNull();
  });
});

test("a histogram without a finite value is known by its percentiles", () => {
  const data = { steps: [1, 2], times: [0, 1], edges: [0, 1], counts: [[3], [0]], percentiles: [[0, 1], [Number.NaN]] };
  expect([isAllBad(data, 0), isAllBad(data, 1), nothingFinite(data)]).toEqual([false, true, false]);
  expect(nothingFinite({ ...data, percentiles: [[Number.NaN], []] })).toBe(true);
  expect(nothingFinite({ ...data, steps: [] })).toBe(false);
});
