import { describe, expect, it } from "vitest";
import { fitted, planAxes } from "./chart-axes";

const measure = (label: string): number => label.length * 6;
const size = { width: 380, height: 200 };
const plan = (x: [number, number], y: [number, number], options = {}) =>
  planAxes({ x, y, logX: false, logY: false }, size, { xName: "Step", ...options }, measure);
const texts = (labels: readonly { text: string }[]) => labels.map((label) => label.text);

describe("a plan of axes", () => {
  it("makes room for the widest label of y", () => {
    const { box, y } = plan([0, 10], [612_786_176, 612_987_654]);
    expect(box.left).toBeGreaterThanOrEqual(Math.max(...y.map(({ text }) => measure(text))));
    expect(plan([0, 10], [0, 1]).box.left).toBeLessThan(box.left);
  });
  it("labels both ends of x, and round numbers between them", () => {
    expect(texts(plan([0, 1999], [0, 1]).x)).toEqual(["0", "500", "1,000", "1,500", "1,999"]);
    expect(texts(plan([137, 2010], [0, 1]).x)).toEqual(["137", "500", "1,000", "1,500", "2,010"]);
  });
  it("keeps the labels of x apart, and inside, at any width", () => {
    for (let width = 90; width < 1600; width += 37) {
      const { x } = planAxes(
        { x: [0, 987_654_321], y: [0, 1], logX: false, logY: false },
        { width, height: 200 },
        {},
        measure,
      );
      const ends = x.map(({ px, text }) => [px - measure(text) / 2, px + measure(text) / 2] as const);
      ends.forEach(([left, right], at) => {
        expect(left).toBeGreaterThanOrEqual(at === 0 ? 0 : (ends[at - 1]?.[1] ?? 0) + 8);
        expect(right).toBeLessThanOrEqual(width);
      });
    }
  });
  it("has no halves where only whole numbers mean something, and only the step itself for a single one", () => {
    expect(texts(plan([0, 3], [0, 1], { wholeX: true }).x)).toEqual(["0", "1", "2", "3"]);
    expect(texts(plan([987_654_320.5, 987_654_321.5], [0, 1], { wholeX: true }).x)).toEqual(["987.654321M"]);
    expect(texts(plan([0, 1], [4, 6], { wholeY: true }).y)).toEqual(["4", "5", "6"]);
  });
  it("tells numbers apart that are nearly the same, and two of them at least", () => {
    for (const y of [
      [1 - 1e-9, 1 + 1e-9],
      [1e6, 1e6 + 6e-4],
      [-3e-9, 3e-9],
      [0.61, 1.9],
      [4e300, 5e300],
    ] as [number, number][]) {
      const labels = texts(plan([0, 1], y).y);
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.length).toBeGreaterThan(1);
    }
  });
  it("has three labels of y or more where they fit, and no ruled page where it is tall", () => {
    for (let low = 0; low < 7; low += 0.37)
      for (const height of [130, 160, 400, 900]) {
        const { y } = planAxes(
          { x: [0, 1], y: [low, 21.3], logX: false, logY: false },
          { width: 300, height },
          {},
          measure,
        );
        expect(y.length, `${low} in ${height}`).toBeGreaterThan(2);
        expect(y.length, `${low} in ${height}`).toBeLessThan(13);
      }
  });
  it("labels no y where nothing finite is drawn", () => {
    expect(plan([0, 1], [0, 1], { blankY: true }).y).toEqual([]);
  });
  it("ends a million steps at 1M", () => {
    expect(texts(plan([0, 999_999], [0, 1]).x).at(-1)).toBe("1M");
  });
  it("writes bytes in their own units", () => {
    expect(texts(plan([0, 1], [600 * 2 ** 20, 640 * 2 ** 20], { yKind: "bytes" }).y)).toEqual([
      "600 MiB",
      "610 MiB",
      "620 MiB",
      "630 MiB",
      "640 MiB",
    ]);
  });
});

it("shortens a name in its middle, where names differ least", () => {
  expect(fitted("resnet-4-adamw-lr3e-4", 60, measure)).toBe("resne…3e-4");
  expect(fitted("short", 60, measure)).toBe("short");
});

describe("a second axis at the right", () => {
  const measure = (label: string) => label.length * 7;
  const axes = { x: [0, 100] as [number, number], y: [0, 1] as [number, number], logX: false, logY: false };
  const size = { width: 400, height: 200 };

  it("has room for its widest label, at every range", () => {
    for (const right of [
      [0, 1],
      [-123456, 987654],
      [1e-7, 3e-7],
      [5e8, 6e8],
    ] as [number, number][]) {
      const plan = planAxes(axes, size, { right }, measure);
      const edge = plan.box.left + plan.box.width;
      expect(plan.right.length).toBeGreaterThanOrEqual(2);
      for (const { text, px } of plan.right) {
        expect(edge + 7 + measure(text)).toBeLessThanOrEqual(size.width);
        expect(px).toBeGreaterThanOrEqual(plan.box.top);
        expect(px).toBeLessThanOrEqual(plan.box.top + plan.box.height);
      }
    }
  });

  it("does not move the left one", () => {
    const [one, two] = [planAxes(axes, size, {}, measure), planAxes(axes, size, { right: [0, 5] }, measure)];
    expect(two.y.map(({ at, text }) => [at, text])).toEqual(one.y.map(({ at, text }) => [at, text]));
    expect(one.right).toEqual([]);
  });
});
