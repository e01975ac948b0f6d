import { expect, test } from "vitest";
import { barsOf, plotOf, stretchAround, together } from "./evidence-plot";

const SIZE = { width: 110, height: 60 };

test("a line runs over the box, breaks at what is not finite, and the step is marked", () => {
  const plot = plotOf([{ x: [0, 5, 10], y: [1, null, 3] }], SIZE, 5);
  expect(plot?.paths[0]?.match(/[ML]/g)).toEqual(["M", "M"]);
  const middle = (plot?.box.left ?? 0) + (plot?.box.width ?? 0) / 2;
  expect([plot?.odd, plot?.mark, plot?.log]).toEqual([[middle], middle, false]);
  expect(plot?.x.map(({ text }) => text)).toEqual(["0", "10"]);
});

test("a marked step outside the line is shown with it", () => {
  const plot = plotOf([{ x: [28, 231], y: [1, 2] }], SIZE, 3);
  expect([plot?.mark, plot?.x[0]?.text]).toEqual([plot?.box.left, "3"]);
});

test("an explosion is drawn on a log axis, and a flat or empty line does not break", () => {
  const plot = plotOf([{ x: [0, 1, 2], y: [1e-3, 1, 1e6] }], SIZE);
  expect(plot?.log).toBe(true);
  expect(plot?.y.length).toBeGreaterThan(1);
  expect(plotOf([{ x: [0, 1], y: [0, 0] }], SIZE)?.paths[0]).toBe("M34 23L96 23");
  expect(plotOf([{ x: [3], y: [2] }], SIZE)?.paths[0]).toBe("M65 23");
  expect(plotOf([], SIZE)).toBeNull();
  expect(plotOf([{ x: [1], y: [null] }], SIZE)).toBeNull();
});

test("bars are as long as their values, or as their size when they differ by much", () => {
  expect(barsOf([1, -2, null, 0])).toEqual({ lengths: [0.5, 1, 0, 0], log: false });
  const { lengths, log } = barsOf([1e-6, 1]);
  expect([log, lengths[1]]).toEqual([true, 1]);
  expect(lengths[0]).toBeCloseTo(0.5 / 6.5);
  expect(barsOf([null, 0])).toEqual({ lengths: [0, 0], log: false });
});

test("what has one length and one size shares a picture", () => {
  const groups = together([
    { name: "a", values: [1, 2, 3] },
    { name: "b", values: [2, 3, 9] },
    { name: "tiny", values: [1e-4, 1e-4, 1e-4] },
    { name: "short", values: [1, 2] },
  ]);
  expect(groups.map(({ names }) => names)).toEqual([["a", "b"], ["tiny"], ["short"]]);
});

test("a short run is shown whole, a long one around the step", () => {
  expect(stretchAround(50, 399)).toBeNull();
  expect(stretchAround(null, 10_000)).toBeNull();
  expect(stretchAround(50, 10_000)).toEqual({ lo: 0, hi: 1050 });
});
