import { expect, test } from "vitest";
import { badText, meanText, rangeText, statsTitle, tensorLabel } from "./stat-words";

test("what is not finite comes with its count, and at least where it was not counted", () => {
  expect(badText({ numel: 4, nan: 2, inf: 1 })).toBe("2 NaN, 1 Inf");
  expect(badText({ numel: 4, nan: 1, counted: false })).toBe("≥1 NaN");
  expect([badText({ numel: 4 }), badText(null)]).toEqual(["", ""]);
});

test("mean and spread, or the value alone", () => {
  expect(meanText({ numel: 9, mean: 0.1234, std: 1 })).toBe("0.123 ± 1");
  expect(meanText({ numel: 1, mean: 2.5, std: 0 })).toBe("2.5");
  expect(meanText({ numel: 9 })).toBe("");
  expect(rangeText({ numel: 9, min: -1, max: 2 })).toBe("−1 … 2");
  expect(rangeText({ numel: 9, min: 2, max: 2 })).toBe("2");
});

test("everything in one line", () => {
  expect(statsTitle({ numel: 4, nan: 1, mean: 0, std: 1, min: -1, max: 1, norm: 2, zeros: 1 })).toBe(
    "4 values · 1 NaN · mean ± std 0 ± 1 · range −1 … 1 · norm 2 · 25% zeros",
  );
  expect(statsTitle(null)).toBe("no statistics were recorded");
  expect(tensorLabel({ shape: [2, 3], dtype: "float32", device: "cpu", kind: "input" })).toBe("2×3 f32");
});
