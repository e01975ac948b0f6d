import { expect, test } from "vitest";
import { scaleOf, uprightTicks } from "./param-scale";
import type { ParamColumn } from "./param-table";

const decay = {
  kind: "number",
  values: [0, 1e-4, 1e-2],
  distinct: 3,
  low: 0,
  positive: 1e-4,
  high: 1e-2,
} as unknown as ParamColumn;

test.each([60, 105, 300, 700])(
  "labels of an upright axis of %i px do not touch, zero beside a log scale neither",
  (height) => {
    const places = uprightTicks(scaleOf(decay, true), height).map((tick) => tick.place * height);
    expect(places.length).toBeGreaterThan(1);
    for (let at = 1; at < places.length; at++)
      expect((places[at] as number) - (places[at - 1] as number)).toBeGreaterThanOrEqual(13);
  },
);
