import { describe, expect, it } from "vitest";
import { lineOf } from "./chart-fixtures";
import { beyond, isBlank, quantile, robustExtent, valueRange, xRange } from "./chart-range";

const all = { log: false, clip: "never" as const, band: false, window: [0, 1e9] as const };

describe("the y-range", () => {
  it("holds every number with a little room", () => {
    expect(valueRange([lineOf([0, 10])], all)).toEqual([-0.5, 10.5]);
  });
  it("holds the band when one is drawn", () => {
    const line = lineOf([1, 1], { low: [0, 0], high: [1, 10] });
    expect(valueRange([line], { ...all, band: true })).toEqual([-0.5, 10.5]);
  });
  it("holds the raw mean of a smoothed group, which may leave the band", () => {
    const more = { low: [0, 0], high: [1, 1], smooth: [0.5, 0.5] };
    expect(valueRange([lineOf([0, 10], { ...more, run: "group:1" })], { ...all, band: true })).toEqual([-0.5, 10.5]);
  });
  it("leaves out a few outliers when asked, and only then", () => {
    const values = Array.from({ length: 200 }, (_, i) => Math.sin(i));
    values[50] = 1e6;
    expect(valueRange([lineOf(values)], all)[1]).toBeGreaterThan(1e6);
    const [lo, hi] = valueRange([lineOf(values)], { ...all, clip: "always" });
    expect(hi).toBeLessThan(3);
    expect(lo).toBeLessThanOrEqual(-1);
  });
  it("cuts nothing from numbers without outliers", () => {
    expect(robustExtent([1, 2, 3, 4, 5])).toEqual([1, 5]);
  });
  it("cuts where the sorted numbers say, however many there are and in whatever order", () => {
    const sorted = (values: readonly number[]): number[] => {
      const all = [...values].sort((a, b) => a - b);
      const [low, high] = [quantile(all, 0.025), quantile(all, 0.975)];
      const slack = (high - low) * 0.5;
      const [min, max] = [all[0] as number, all.at(-1) as number];
      return [min < low - slack ? low - slack * 0.2 : min, max > high + slack ? high + slack * 0.2 : max];
    };
    for (let count = 1; count < 300; count++) {
      // Many equal ones, a few far out, rising, falling and mixed.
      const values = Array.from(
        { length: count },
        (_, i) => ((i * 7919) % (3 + (count % 50))) ** (i % 40 === 7 ? 4 : 1),
      );
      for (const one of [values, values.toSorted((a, b) => a - b), values.toSorted((a, b) => b - a)])
        expect(robustExtent(one)).toEqual(sorted(one));
    }
  });
  it("only looks at what is inside the window", () => {
    expect(valueRange([lineOf([0, 1, 2, 100])], { ...all, window: [0, 2] })).toEqual([-0.1, 2.1]);
  });
  it("ignores what a log axis cannot show", () => {
    const [lo, hi] = valueRange([lineOf([-5, 0, 1, 100])], { ...all, log: true });
    expect(lo).toBeGreaterThan(0.5);
    expect(hi).toBeLessThan(200);
  });
  it("is never empty: flat lines, single points, nothing at all, NaN only", () => {
    for (const values of [[3, 3, 3], [0], [], [null, null], [1e300, 1e300], [-7]]) {
      for (const log of [false, true]) {
        const [lo, hi] = valueRange([lineOf(values)], { ...all, log, clip: "always" });
        expect(hi).toBeGreaterThan(lo);
        expect(Number.isFinite(hi - lo)).toBe(true);
      }
    }
  });
});

it("gives a drawable x-range for one point and on a log axis", () => {
  expect(xRange([5, 5], false)).toEqual([4.5, 5.5]);
  expect(xRange([0, 100], true)).toEqual([1, 100]);
  expect(xRange(null, false)).toEqual([0, 1]);
});

it("interpolates quantiles", () => {
  expect([quantile([1, 2, 3], 0.5), quantile([1, 3], 0.25), quantile([], 0.5)]).toEqual([2, 1.5, Number.NaN]);
});

it("leaves a spike out by itself only where it would flatten everything else, and says how far it goes", () => {
  const calm = Array.from({ length: 400 }, (_, i) => 20 + 5 * Math.exp(-i / 40));
  const falling = Array.from({ length: 400 }, (_, i) => 10 * Math.exp(-i / 20));
  const burst = lineOf([...calm.slice(1), 3000]);
  const extreme = { ...all, clip: "extreme" as const };
  expect(valueRange([burst], extreme)[1]).toBeLessThan(40);
  expect(beyond([burst], all, valueRange([burst], extreme))).toEqual({ below: null, above: 3000 });
  expect(valueRange([lineOf(falling)], extreme)[1]).toBeGreaterThan(10);
  expect(valueRange([lineOf([...calm, 90])], extreme)[1]).toBeGreaterThan(90);
});

it("leaves one spike out of a million calm points, but not how a line begins, ends or stays", () => {
  const extreme = { ...all, clip: "extreme" as const };
  const calm = Array.from({ length: 800 }, (_, i) => 1.15 + Math.sin(i));
  const spike = calm.map((v, i) => (i === 500 ? 50 : v));
  expect(valueRange([lineOf(spike)], extreme)[1]).toBeLessThan(3);
  expect(valueRange([lineOf([50, ...calm])], extreme)[1]).toBeGreaterThan(50);
  expect(valueRange([lineOf([...calm, 50])], extreme)[1]).toBeGreaterThan(50);
  expect(valueRange([lineOf(calm.map((v, i) => (i > 400 ? v + 40 : v)))], extreme)[1]).toBeGreaterThan(40);
});

it("keeps percents between 0 and 100, and gives whole numbers whole room", () => {
  expect(valueRange([lineOf([100, 100])], { ...all, percent: true })).toEqual([0, 100]);
  expect(valueRange([lineOf([100, 340])], { ...all, percent: true })[1]).toBeGreaterThan(340);
  expect(valueRange([lineOf([5, 5])], all)).toEqual([4, 6]);
});

it("draws nothing beyond what a score can reach, and nothing below a metric that stays at zero", () => {
  expect(valueRange([lineOf([98.3])], { ...all, score: true })).toEqual([88.47, 100.5]);
  expect(valueRange([lineOf([0.2, 1])], { ...all, score: true })[1]).toBe(1.005);
  expect(valueRange([lineOf([20, 300])], { ...all, score: true })[1]).toBeGreaterThan(300);
  expect(valueRange([lineOf([0, 0])], all)).toEqual([-0.05, 1]);
});

it("a chart of nothing finite has no range to tell", () => {
  const options = { log: false, clip: "never", band: false, window: [0, 10] } as const;
  expect(isBlank([lineOf([Number.NaN, Number.POSITIVE_INFINITY])], options)).toBe(true);
  expect(isBlank([lineOf([Number.NaN, 0])], options)).toBe(false);
});
