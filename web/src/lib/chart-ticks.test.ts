import { describe, expect, it } from "vitest";
import { axisKind, limitsOf, niceStep, tickLabels, ticks } from "./chart-ticks";

describe("ticks", () => {
  it("are round numbers inside the range", () => {
    expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticks(-3, 4237, 5)).toEqual([0, 1000, 2000, 3000, 4000]);
  });
  it("have no dust of floating point", () => {
    expect(ticks(0, 0.5, 5)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    expect(tickLabels(ticks(0.1, 0.4, 3))).toEqual(["0.1", "0.2", "0.3", "0.4"]);
  });
  it("of a clock stand at whole hours, all digits kept", () => {
    const at = ticks(1_763_000_000, 1_763_090_000, 5, "time");
    expect(at.map((time) => (time + new Date(time * 1000).getTimezoneOffset() * -60) % 3600)).toEqual(at.map(() => 0));
  });
  it("find their way in a range far from zero", () => {
    expect(tickLabels(ticks(1_000_000, 1_000_010, 5))).toEqual([
      "1.000000M",
      "1.000002M",
      "1.000004M",
      "1.000006M",
      "1.000008M",
      "1.000010M",
    ]);
  });
  it("stand at powers of ten on a log axis, with 2 and 5 when there is room", () => {
    expect(ticks(0.001, 1000, 5, "log")).toEqual([0.001, 0.1, 10, 1000]);
    expect(ticks(1, 10, 9, "log")).toEqual([1, 2, 5, 10]);
    expect(ticks(3.5, 2996, 3.6, "log")).toEqual([10, 100, 1000]);
    expect(ticks(2, 3, 4, "log").length).toBeGreaterThan(1);
  });
  it("are whole minutes and hours on a time axis", () => {
    expect(tickLabels(ticks(0, 600, 5, "duration"), "duration")).toEqual(["0", "2m", "4m", "6m", "8m", "10m"]);
    expect(tickLabels(ticks(0, 7200, 4, "duration"), "duration")).toEqual(["0", "30m", "1h00", "1h30", "2h00"]);
    expect(tickLabels(ticks(0, 3 * 86400, 3, "duration"), "duration")).toEqual(["0", "1d", "2d", "3d"]);
  });
  it("tell parts of a second apart on a wall clock", () => {
    const labels = tickLabels(ticks(1_700_000_000, 1_700_000_001, 4, "time"), "time");
    expect(new Set(labels).size).toBe(labels.length);
  });
  it("are none for a range that cannot be drawn", () => {
    expect(ticks(1, 1, 5)).toEqual([]);
    expect(ticks(0, Number.NaN, 5)).toEqual([]);
    expect(ticks(0, Number.POSITIVE_INFINITY, 5)).toEqual([]);
    expect(ticks(-1, 10, 5, "log")).toEqual([]);
  });
  it("stay few even for absurd ranges", () => {
    for (const [lo, hi] of [
      [-1e308, 1e307],
      [1e-300, 1e300],
      [5e-324, 1e-320],
    ] as const)
      expect(ticks(lo, hi, 6).length).toBeLessThan(200);
  });
});

describe("labels", () => {
  it("are short and share their decimals", () => {
    expect(tickLabels([0, 10_000, 20_000])).toEqual(["0", "10k", "20k"]);
    expect(tickLabels([0, 0.00001, 0.00002])).toEqual(["0", "1e−5", "2e−5"]);
    expect(tickLabels([0, 0.00005, 0.0001])).toEqual(["0", "0.00005", "0.00010"]);
    expect(tickLabels([0, 5e14, 1e15])).toEqual(["0", "5e14", "1e15"]);
    expect(tickLabels([-0.5, 0, 0.5])).toEqual(["−0.5", "0", "0.5"]);
    expect(tickLabels([1_500_000, 2_000_000])).toEqual(["1.5M", "2.0M"]);
    expect(tickLabels([0, 5_000, 10_000])).toEqual(["0", "5k", "10k"]);
    expect(tickLabels([999_999.9998, 1_000_000, 1_000_000.0002])).toEqual([
      "0.9999999998M",
      "1.0000000000M",
      "1.0000000002M",
    ]);
    expect(tickLabels([0.001, 0.1, 10, 1000], "log")).toEqual(["0.001", "0.1", "10", "1,000"]);
  });
});

it("chooses the kind of axis by what x is", () => {
  expect([
    axisKind("step", false),
    axisKind("relative", false),
    axisKind("wall", false),
    axisKind("wall", true),
  ]).toEqual(["number", "duration", "time", "log"]);
});

it("gives a step even for an empty span", () => {
  expect(niceStep(0, 5)).toBe(1);
  expect(niceStep(Number.NaN, 5)).toBe(1);
});

it("knows scores by their names", () => {
  const names = ["val/acc", "valAcc", "accuracy", "top5", "test_f1", "mIoU", "acc_time_s", "map", "loss", "accelerate"];
  expect(names.filter((name) => limitsOf(name).score)).toEqual([
    "val/acc",
    "valAcc",
    "accuracy",
    "top5",
    "test_f1",
    "mIoU",
    "acc_time_s",
  ]);
});
