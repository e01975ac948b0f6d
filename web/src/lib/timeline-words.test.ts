import { beforeAll, describe, expect, test } from "vitest";
import { loadPatterns } from "./pattern";
import { cpuMs } from "./cpu-fixtures";
import { findNames } from "./timeline-find";
import { hueOf } from "./timeline-inks";
import { preciseNs, rulerTicks } from "./timeline-ruler";
import { selectionSheet } from "./timeline-selection";

beforeAll(loadPatterns);

describe("the ruler", () => {
  test("has round marks in the unit one reads", () => {
    expect(rulerTicks(0, 1000, 5).ticks.map((tick) => tick.label)).toEqual([
      "0",
      "200 ns",
      "400 ns",
      "600 ns",
      "800 ns",
      "1.0 µs",
    ]);
    expect(
      rulerTicks(0, 48e6, 10)
        .ticks.map((tick) => tick.label)
        .slice(0, 3),
    ).toEqual(["0", "5 ms", "10 ms"]);
    expect(rulerTicks(0.9e9, 1.1e9, 4).ticks.map((tick) => tick.label)).toEqual([
      "900 ms",
      "950 ms",
      "1.00 s",
      "1.05 s",
      "1.10 s",
    ]);
  });

  test("far from the beginning counts from a round time", () => {
    const { ticks, from } = rulerTicks(123_456_789, 123_456_989, 5);
    expect(from).toBe("123.456\u202f5 ms");
    expect(ticks.map((tick) => tick.label)).toEqual(["+300 ns", "+350 ns", "+400 ns", "+450 ns"]);
    expect(ticks.map((tick) => tick.at)).toEqual([123_456_800, 123_456_850, 123_456_900, 123_456_950]);
  });

  test("writes a time to the nanosecond", () => {
    expect([5, 9_999, 12_345_678, 2_000_000_001].map(preciseNs)).toEqual([
      "5 ns",
      "10 µs",
      "12.345\u202f678 ms",
      "2.000\u202f000\u202f001 s",
    ]);
  });
});

describe("searching names", () => {
  const names = ["aten::add", "aten::addmm", "void gemm<float>(int)", "ProfilerStep#3"];
  test("finds parts in any case, all of them", () => {
    expect(findNames(names, "ADD").names).toEqual([0, 1]);
    expect(findNames(names, "aten mm").names).toEqual([1]);
    expect(findNames(names, "  ").names).toEqual([]);
  });

  test("takes what stands between slashes as a pattern", () => {
    expect(findNames(names, "/^aten::add$/").names).toEqual([0]);
    expect(findNames(names, "/step#\\d").names).toEqual([3]);
    const bad = findNames(names, "/(a/");
    expect([bad.names, bad.error === null]).toEqual([[], false]);
  });

  test("ends for every pattern", () => {
    const began = cpuMs();
    findNames(["a".repeat(400)], "/(a+)+$b/");
    expect(cpuMs() - began).toBeLessThan(1000);
  });
});

test("names that differ in numbers or template arguments share a hue", () => {
  expect(hueOf("ProfilerStep#3")).toBe(hueOf("ProfilerStep#44"));
  expect(hueOf("gemm<float>(int)")).toBe(hueOf("gemm<double>(long)"));
  expect(hueOf("aten::add")).not.toBe(hueOf("aten::mul"));
});

test("a selection of several ranks is one sheet", () => {
  const one = (own: number) => ({
    name: "gemm",
    kind: "device_annotation",
    count: 2,
    total_ns: own,
    self_ns: own,
    longest_ns: own / 2,
    longest_event: 0,
  });
  const selection = (own: number) => ({
    begin_ns: 0,
    end_ns: 100,
    events: 2,
    names: [one(own)],
    omitted: 3,
    lanes: [],
  });
  const sheet = selectionSheet([selection(40), selection(10)], 100);
  expect(sheet.rows).toEqual([["gemm", "device annotation", 4, 50, 0.5, 50, 12.5, 20]]);
  expect(sheet.notes).toEqual(["6 further names have less own time and are left out"]);
});
