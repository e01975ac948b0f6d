import { describe, expect, test } from "vitest";
import {
  count,
  cutMiddle,
  formatAge,
  formatBytes,
  formatCell,
  formatDuration,
  formatMetric,
  formatNumber,
  formatTime,
  nameText,
  typeset,
  visibleText,
} from "./format";

describe("numbers", () => {
  test.each([
    [0, "0"],
    [1, "1"],
    [-3, "−3"],
    [0.042173, "0.04217"],
    [0.1, "0.1"],
    [1 / 3, "0.3333"],
    [12.3456, "12.35"],
    [999.96, "1,000"],
    [1234.5, "1,235"],
    [123456, "123,456"],
    [123456.7, "123,457"],
    [12_345_678, "12.35M"],
    [3.2e9, "3.2G"],
    [1e-4, "0.0001"],
    [3.2e-7, "3.2e−7"],
    [-1.23456e-9, "−1.23e−9"],
    [1e20, "1e20"],
    [NaN, "NaN"],
    [Infinity, "∞"],
    [-Infinity, "−∞"],
  ])("%s is shown as %s", (value, shown) => expect(formatNumber(value)).toBe(shown));
});

test("cells show what JSON has no numbers for", () => {
  expect([null, "NaN", "Infinity", "-Infinity", true, 0.5, "adam"].map(formatCell)).toEqual([
    "",
    "NaN",
    "∞",
    "−∞",
    "true",
    "0.5",
    "adam",
  ]);
});

test.each([
  [0.0123, "12ms"],
  [0.84, "0.8s"],
  [2, "2s"],
  [42, "42s"],
  [60, "1m"],
  [200, "3m 20s"],
  [3600, "1h"],
  [18_720, "5h 12m"],
  [273_600, "3d 4h"],
  [-5, "0ms"],
  [NaN, "–"],
])("%s seconds last %s", (seconds, shown) => expect(formatDuration(seconds)).toBe(shown));

test.each([
  [0, "just now"],
  [12, "12s ago"],
  [61, "1m ago"],
  [7300, "2h ago"],
  [200_000, "2d ago"],
])("%s seconds back is %s", (age, shown) => expect(formatAge(1_000_000_000 - age, 1_000_000_000)).toBe(shown));

test("old and future times are dates", () => {
  expect(formatAge(1_000_000_000 - 90 * 86400, 1_000_000_000)).toMatch(/^2001-06-1\d$/);
  expect(formatAge(1_000_000_000 + 4000, 1_000_000_000)).toBe(formatTime(1_000_004_000));
});

test.each([
  [0, "0 B"],
  [512, "512 B"],
  [1536, "1.5 KiB"],
  [123 * 1024, "123 KiB"],
  [3.2 * 1024 ** 3, "3.2 GiB"],
])("%s bytes are %s", (bytes, shown) => expect(formatBytes(bytes)).toBe(shown));

test("control and direction characters are made visible", () => {
  expect(visibleText("a\u202eb\u0000c\nd")).toBe("a\ufffdb\u2400c\nd");
  expect(visibleText("naïve 模型 🚀")).toBe("naïve 模型 🚀");
});

test("one run, two runs", () => {
  expect([count(1, "run"), count(12_345, "run")]).toEqual(["1 run", "12,345 runs"]);
});

test("a metric keeps its four digits, so that a column's digits stand under each other", () => {
  expect([0.88, 0.8794, 12.3, -0.5, 3, 1234.5, 0.00002, Number.NaN].map(formatMetric)).toEqual([
    "0.8800",
    "0.8794",
    "12.30",
    "−0.5000",
    "3",
    "1,235",
    "2e−5",
    "NaN",
  ]);
});

test("what terminals write in plain letters is set as it is written by hand", () => {
  expect(typeset("saves 7 us a step (2.8x), 10.0x as long; 2x2 and use stay")).toBe(
    "saves 7 µs a step (2.8×), 10.0× as long; 2x2 and use stay",
  );
});

test("a name of nothing but spaces shows as no name", () => {
  expect(["  ", "", "\u200f", " wide "].map(nameText)).toEqual(["(no name)", "(no name)", "\ufffd", "wide"]);
});

test("a long text loses its middle, where names differ least", () => {
  expect(cutMiddle("resnet-50-adam-lr-0.1", 12)).toBe("resnet…r-0.1");
  expect(cutMiddle("short", 12)).toBe("short");
});
