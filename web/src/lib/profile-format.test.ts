import { expect, test } from "vitest";
import { exactUnit, formatCell, formatFactor, formatFlops, formatNs, formatShare, formatUnit } from "./profile-format";
import { unitTicks } from "./profile-ticks";

test("times have three digits and the unit one reads", () => {
  expect([0, 850, 12_400, 3_100_000, 999_499_999, 2_050_000_000, 204e9].map(formatNs)).toEqual([
    "0 ns",
    "850 ns",
    "12.4 µs",
    "3.1 ms",
    "999 ms",
    "2.05 s",
    "3.4 min",
  ]);
  expect(formatNs(-1_110_000)).toBe("−1.11 ms");
  expect(formatNs(999.9)).toBe("1 µs");
});

test("a share is never rounded to nothing", () => {
  expect([0.834, 0.042, 0.003, 0.0001, 0, 1, -0.12].map(formatShare)).toEqual([
    "83%",
    "4.2%",
    "0.3%",
    "<0.1%",
    "0%",
    "100%",
    "−12%",
  ]);
});

test("every unit has its words, and what is not known is a dash", () => {
  expect(formatUnit(null, "ns")).toBe("–");
  expect(formatUnit(true, "flag")).toBe("yes");
  expect(formatUnit(1536, "bytes")).toBe("1.5 KiB");
  expect(formatUnit(12345, "count")).toBe("12,345");
  expect(formatUnit("train.py:3", "line")).toBe("train.py:3");
  expect(formatUnit(2.23145, "number")).toBe("2.23");
  expect(formatFlops(1.234e12)).toBe("1.23 TFLOP");
  expect(formatFactor(3.14)).toBe("3.1×");
});

test("a long place keeps its end, and a rate says that it is one", () => {
  const line = { key: "where", label: "where", unit: "line" } as const;
  expect(formatCell("train.py:3", line)).toBe("train.py:3");
  expect(formatCell("/usr/lib/python3.11/site-packages/json/encoder.py:205", line)).toBe("…/json/encoder.py:205");
  expect(formatCell(`/a/${"b".repeat(40)}/net.py:1`, line)).toBe("…/net.py:1");
  expect(formatCell(4e14, { key: "rate", label: "per second", unit: "flops" })).toBe("400 TFLOP/s");
  expect(formatCell(4e14, { key: "flops", label: "FLOPs", unit: "flops" })).toBe("400 TFLOP");
});

test("the tooltip has all the digits", () => {
  expect(exactUnit(12_345_678, "ns")).toBe("12,345,678 ns");
  expect(exactUnit(0.123456, "share")).toBe("12.3456%");
  expect(exactUnit(null, "ns")).toBe("–");
});

test("ticks are round in the unit that is written", () => {
  expect(unitTicks(0, 17_000_000, 4, "ns").map((tick) => tick.label)).toEqual(["0", "5 ms", "10 ms", "15 ms"]);
  const bytes = unitTicks(0, 300 * 2 ** 20, 4, "bytes");
  expect(bytes.map((tick) => tick.label)).toEqual(["0", "100 MiB", "200 MiB", "300 MiB"]);
  expect(bytes[1]?.at).toBe(100 * 2 ** 20);
  expect(unitTicks(0, 0, 4, "ns")).toEqual([]);
});
