import { describe, expect, it } from "vitest";
import { colorOf, colorScale, dashesBy, legendOf, STEPS, shadeAt } from "./color-by";
import { PALETTE, UNKNOWN } from "./colour";
import type { Cell, ColumnValues } from "./schema";

function column(...values: Cell[]): ColumnValues {
  const numbers = values.filter((value) => typeof value === "number");
  const stats = { min: Math.min(...numbers), max: Math.max(...numbers), mean: 0, median: 0, std: 0, bins: [] };
  return {
    runs: values.length,
    missing: 0,
    distinct: values.length,
    values: values.map((value) => ({ value, count: 1 })),
    stats: numbers.length ? stats : null,
    odd: 0,
  };
}

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a: string, b: string): number => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
};

describe("a scale for numbers", () => {
  it("goes from the least to the greatest, in powers of ten where they are far apart", () => {
    expect(colorScale(column(1, 2, 3))).toEqual({ kind: "numbers", low: 1, high: 3, log: false });
    const rates = colorScale(column(1e-4, 1e-3, 1e-2));
    expect(rates).toMatchObject({ kind: "numbers", log: true });
    if (!rates) throw new Error("no scale");
    expect(colorOf(rates, 1e-4, false)).toBe(STEPS[0]?.light);
    expect(colorOf(rates, 1e-3, false)).toBe(shadeAt(0.5, false));
    expect(colorOf(rates, 1e-2, true)).toBe(STEPS.at(-1)?.dark);
    expect(legendOf(rates, false).map((one) => one.label)).toEqual(["0.0001", "0.01"]);
  });

  it("is readable on both themes, and even for who sees no colors", () => {
    for (const [side, ground, way] of [
      ["light", "#ffffff", -1],
      ["dark", "#1b1c21", 1],
    ] as const) {
      const shades = Array.from({ length: 26 }, (_, at) => shadeAt(at / 25, side === "dark"));
      expect(Math.min(...shades.map((shade) => contrast(shade, ground)))).toBeGreaterThanOrEqual(3);
      const lights = shades.map((shade) => way * luminance(shade));
      expect(lights).toEqual([...lights].sort((a, b) => a - b));
    }
  });

  it("leaves runs without a number gray", () => {
    const scale = colorScale(column(1, 2));
    if (!scale) throw new Error("no scale");
    for (const value of [null, undefined, Number.NaN, "x"]) expect(colorOf(scale, value, false)).toBe(UNKNOWN.light);
  });
});

describe("a scale for words", () => {
  it("gives each its own hue, whatever their order, and gray past the eighth", () => {
    const some = colorScale(column("adam", "sgd", true));
    const turned = colorScale(column(true, "sgd", "adam"));
    if (!some || !turned) throw new Error("no scale");
    const colors = legendOf(some, false).map((one) => one.color);
    expect(new Set(colors).size).toBe(3);
    expect(colorOf(some, "adam", false)).toBe(colorOf(turned, "adam", false));
    const many = colorScale(column(..."abcdefghij"));
    if (!many) throw new Error("no scale");
    expect(many).toMatchObject({ kind: "names", others: 2 });
    expect(new Set(legendOf(many, true).map((one) => one.color)).size).toBe(PALETTE.length);
    expect(colorOf(many, "j", true)).toBe(UNKNOWN.dark);
  });

  it("is none where no run has a value", () => expect(colorScale(column())).toBeNull());
});

it("runs of one color have dashes of their own", () => {
  const dashes = dashesBy(["a", "b", "c"], (id) => (id === "b" ? "red" : "blue"));
  expect(dashes.get("a")).toEqual([]);
  expect(dashes.get("b")).toEqual([]);
  expect(dashes.get("c")).not.toEqual([]);
});
