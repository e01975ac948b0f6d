import { expect, it } from "vitest";
import { lineOf } from "./chart-fixtures";
import { histogramRows, lineRows } from "./chart-spoken";

it("says where a line begins, how far it goes and where it ends", () => {
  const line = { ...lineOf([2, 5, null, 1], { low: [2, 4, null, 0.5], high: [2, 9, null, 1] }), nan: [2] };
  expect(lineRows([line], () => "baseline")).toEqual([["baseline", "2", "0.5", "9", "1", "1"]]);
  expect(lineRows([lineOf([null])], () => "lost")[0]?.slice(0, 2)).toEqual(["lost", "none"]);
});

it("says some histograms of many, the newest among them", () => {
  const steps = Array.from({ length: 90 }, (_, at) => at * 10);
  const rows = histogramRows({
    steps,
    percentiles: steps.map((step) => [-step, -1, 0, 1, step]),
    edges: [],
    counts: [],
  } as never);
  expect(rows.length).toBeLessThanOrEqual(20);
  expect(rows.at(-1)).toEqual(["890", "−890", "0", "890"]);
});
