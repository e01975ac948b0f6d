import { describe, expect, test } from "vitest";
import {
  bandRows,
  heatPart,
  heatRange,
  joined,
  sayBand,
  sayCell,
  sayInterval,
  sayMeasure,
  stepRange,
} from "./rank-view";
import type { HeatRow, Ranks } from "./schema";

const row = (first: number, values: (number | null)[], more: Partial<HeatRow> = {}): HeatRow => ({
  first,
  last: first,
  host: "node-a",
  values,
  whose: values.map((value) => (value === null ? -1 : first)),
  bad: [],
  ...more,
});

const view: Ranks = {
  ranks: 2,
  hosts: [{ host: "node-a", ranks: 2 }],
  machines: 1,
  slow: [],
  measures: [],
  measure: "step_time",
  unit: "ms",
  steps: [0, 10, 20],
  width: 10,
  rows: [row(0, [1, 2, null]), row(1, [3, 4, 5])],
  band: {
    mean: [2, 3, 5],
    low: [1, 2, 5],
    high: [3, 4, 5],
    low_rank: [0, 0, 1],
    high_rank: [1, 1, 1],
    bad: [0, 0, 1],
    bad_rank: [-1, -1, 0],
  },
  outlier: "",
};

describe("the scale of a heat map", () => {
  test("a few far values do not wash out the rest", () => {
    const values = Array.from({ length: 1000 }, (_, i) => (i === 0 ? 1e9 : 10 + (i % 10)));
    expect(heatRange([row(0, values)])).toEqual([10, 19]);
  });
  test("one row that stands out keeps a color of its own", () => {
    const rows = Array.from({ length: 64 }, (_, rank) =>
      row(
        rank,
        Array.from({ length: 20 }, () => (rank === 7 ? 50 : 10)),
      ),
    );
    expect(heatRange(rows)).toEqual([10, 50]);
  });
  test("values that are all alike are in the middle", () => {
    expect(heatPart(3, heatRange([row(0, [3, 3])]))).toBe(0.5);
  });
  test("nothing at all has a scale too", () => expect(heatRange([row(0, [null])])).toEqual([0, 0]));
});

describe("intervals in which nobody logged", () => {
  const gaps = (values: (number | null)[]): Ranks => ({
    ...view,
    steps: values.map((_, at) => at * 10),
    rows: [row(0, values), row(1, values, { bad: [values.length - 1] })],
    band: { ...view.band, mean: values },
  });
  test("belong to the interval before while they are few", () => {
    const found = joined(gaps([1, null, 3, 4]));
    expect([found.steps, found.rows[1]?.values, found.rows[1]?.bad, found.band.mean]).toEqual([
      [0, 20, 30],
      [1, 3, 4],
      [2],
      [1, 3, 4],
    ]);
    expect([sayInterval(found, 0), stepRange(found)]).toEqual(["steps 0–19", [0, 40]]);
  });
  test("stay where they are many", () => {
    expect(joined(gaps([1, null, null, null, null, 3])).steps).toHaveLength(6);
    expect(joined(view)).toBe(view);
  });
});

describe("in words", () => {
  test("intervals", () => {
    expect(sayInterval(view, 1)).toBe("steps 10–19");
    expect(sayInterval(view, 2)).toBe("steps 20–29");
    expect(sayInterval({ steps: [4, 5], width: 1 }, 1)).toBe("step 5");
  });
  test("a cell of one rank and of several", () => {
    expect(sayCell(view, view.rows[1] as HeatRow, 0)).toBe("steps 0–9: rank 1 (node-a), 3 ms");
    expect(sayCell(view, view.rows[0] as HeatRow, 2)).toBe("steps 20–29: rank 0 (node-a), no value");
    const many = row(0, [7], { last: 63, whose: [12], bad: [0] });
    expect(sayCell(view, many, 0)).toBe("steps 0–9: ranks 0–63, highest: rank 12 (node-a), 7 ms, NaN or Inf");
  });
  test("the band names the ranks of its extremes", () => {
    expect(sayBand(view, 0)).toBe("steps 0–9: mean 2 ms, min 1 ms on rank 0, max 3 ms on rank 1");
    expect(sayBand(view, 2)).toContain("NaN or Inf on 1 rank (first: rank 0)");
    expect(bandRows(view)[1]).toEqual(["steps 10–19", "3 ms", "2 ms", "0", "4 ms", "1"]);
  });
  test("units", () => {
    expect(sayMeasure(1536, "bytes")).toBe("1.5 KiB");
    expect(sayMeasure(12, "percent")).toBe("12%");
    expect(sayMeasure(null, "ms")).toBe("–");
  });
});
