import { expect, test } from "vitest";
import { bars, firstEffect, slices, tallest, typicalParts } from "./parts-layout";
import { rankParts } from "./parts-ranks";
import { GREY, hues } from "./profile-hues";
import type { Sheet, StepParts } from "./schema";

const steps: StepParts = {
  id: "phases",
  title: "Phases",
  parts: [
    { key: "data", label: "Data" },
    { key: "forward", label: "Forward" },
    { key: "other", label: "Other" },
  ],
  steps: [20, 21, 22, 23],
  wall_ns: [1000, 100, 110, 90],
  parts_ns: [
    [0, 900, 100],
    [60, 40, 0],
    [60, 50, 0],
    [60, 30, 0],
  ],
  first_is_odd: true,
};

test("a bar a step; the odd first step keeps its own when neighbours are averaged", () => {
  expect(bars(steps, 10).map((bar) => bar.wall)).toEqual([1000, 100, 110, 90]);
  const few = bars(steps, 2);
  expect(few.map((bar) => [bar.first, bar.last, bar.odd])).toEqual([
    [20, 20, true],
    [21, 22, false],
    [23, 23, false],
  ]);
  expect(few[1]).toMatchObject({ wall: 105, parts: [60, 45, 0] });
});

test("one slow first step does not press the others flat", () => {
  expect(tallest(bars(steps, 10))).toBeCloseTo(176);
  expect(tallest(bars({ ...steps, first_is_odd: false }, 10))).toBe(1000);
  expect(tallest([])).toBe(1);
});

test("the typical step leaves the odd one out, and its slices come largest first", () => {
  expect(typicalParts(steps)).toEqual([60, 40, 0]);
  expect(slices(steps).map((slice) => [slice.part, slice.share])).toEqual([
    [0, 0.6],
    [1, 0.4],
  ]);
  expect(typicalParts({ ...steps, typical_ns: [1, 2, 3] })).toEqual([1, 2, 3]);
  expect(firstEffect(steps)).toBe(10);
  expect(firstEffect({ ...steps, first_is_odd: false })).toBeNull();
});

test("a part has the same colour in every breakdown, no two share one, and idle time is grey", () => {
  const found = hues(["something", "kernel", "communication", "memcpy", "data", "runtime", "forward", "idle"]);
  expect(new Set(found).size).toBe(found.length);
  expect(found.at(-1)).toBe(GREY);
  expect(hues(["data", "forward"])[0]).toBe(found[4]);
  expect(hues(["computation_ns", "rest_ns"])).toEqual([hues(["forward"])[0], GREY]);
  expect(hues(["optimizer state", "activations"])).toEqual(hues(["Optimizer", "activations"]));
  expect(hues(Array.from({ length: 30 }, (_, i) => `line ${i}`)).every((hue) => hue >= 0 && hue < 12)).toBe(true);
});

test("the table of ranks becomes a bar a rank", () => {
  const ns = (key: string, label: string) => ({ key, label, unit: "ns" as const });
  const sheet: Sheet = {
    id: "ranks",
    title: "Ranks",
    columns: [
      { key: "rank", label: "rank", unit: "count" },
      ns("step_ns", "step"),
      ns("computation_ns", "computation"),
      ns("rest_ns", "rest"),
      ns("data_ns", "data wait"),
    ],
    rows: [
      [0, 100, 70, 30, 5],
      [1, 120, 80, 40, 6],
    ],
  };
  expect(rankParts(sheet)).toMatchObject({
    steps: [0, 1],
    wall_ns: [100, 120],
    parts_ns: [
      [70, 30],
      [80, 40],
    ],
    parts: [{ label: "Computation" }, { label: "Rest" }],
  });
  expect(rankParts({ ...sheet, rows: sheet.rows.slice(0, 1) })).toBeNull();
});
