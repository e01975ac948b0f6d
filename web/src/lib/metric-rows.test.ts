import { expect, test } from "vitest";
import { metricsText, nextOrder, searchMetrics, sortMetrics } from "./metric-rows";
import type { Cell, SummaryValue } from "./schema";

const value = (key: string, last: Cell, points = 3): SummaryValue => ({
  key,
  last,
  min: 0,
  max: 1,
  mean: 0.5,
  points,
  nonfinite: 0,
  last_step: 2,
  chosen: last,
});
const ALL = [value("val/loss", 0.3), value("train/loss 10", "NaN"), value("train/loss 9", 2), value("best", null, 0)];
const keys = (values: readonly SummaryValue[]) => values.map((one) => one.key);

test("a heading sorts down, up and back; what is no number stays last", () => {
  let order = nextOrder({ by: null, down: false }, "last");
  expect(keys(sortMetrics(ALL, order))).toEqual(["train/loss 9", "val/loss", "train/loss 10", "best"]);
  order = nextOrder(order, "last");
  expect(keys(sortMetrics(ALL, order))).toEqual(["val/loss", "train/loss 9", "train/loss 10", "best"]);
  order = nextOrder(order, "last");
  expect(keys(sortMetrics(ALL, order))).toEqual(keys(ALL));
  expect(keys(sortMetrics(ALL, nextOrder(order, "key")))).toEqual([
    "best",
    "train/loss 9",
    "train/loss 10",
    "val/loss",
  ]);
});

test("all words must be in a name", () => {
  expect(keys(searchMetrics(ALL, "LOSS train"))).toEqual(["train/loss 10", "train/loss 9"]);
  expect(searchMetrics(ALL, "  ")).toHaveLength(4);
});

test("the table is copied with all digits", () => {
  expect(
    metricsText([
      value("a\tb", 0.1234567891),
      { ...value("best", null, 0), chosen: 7, min: null, max: null, mean: null },
    ]),
  ).toBe("name\tlast\tmin\tmax\tmean\tpoints\na b\t0.1234567891\t0\t1\t0.5\t3\nbest\t7\t\t\t\t0\n");
});
