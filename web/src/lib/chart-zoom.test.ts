import { expect, it } from "vitest";
import { dragRange, pan, scaleRange, withZoom } from "./chart-zoom";

it("pans by a fraction of what is seen, and stops half a window past the data", () => {
  expect(pan([10, 20], 0.5, [0, 100])).toEqual([15, 25]);
  expect(pan([10, 20], -9, [0, 100])).toEqual([-5, 5]);
  expect(pan([90, 100], 9, [0, 100])).toEqual([95, 105]);
});

it("zooms around a point, and lets go when everything is seen", () => {
  expect(scaleRange([0, 100], 0.5, 50, [0, 100])).toEqual([25, 75]);
  expect(scaleRange([25, 75], 4, 50, [0, 100])).toBeNull();
});

it("zooms evenly on a log axis", () => {
  const range = scaleRange([1, 10000], 0.5, 100, [1, 10000], true) as [number, number];
  expect(range[0]).toBeCloseTo(10);
  expect(range[1]).toBeCloseTo(1000);
});

it("does not zoom further than numbers can tell apart", () => {
  const tiny: [number, number] = [1, 1 + 1e-11];
  expect(scaleRange(tiny, 1e-6, 1, [0, 10])).toEqual(tiny);
});

it("takes a drag in either direction, and a click as no drag", () => {
  expect(dragRange(30, 10, -80)).toEqual([10, 30]);
  expect(dragRange(10, 10.1, 2)).toBeNull();
});

it("keeps one zoom per x-axis", () => {
  const both = withZoom(withZoom({}, "step", [1, 2]), "epoch", [0, 3]);
  expect(both).toEqual({ step: [1, 2], epoch: [0, 3] });
  expect(withZoom(both, "step", null)).toEqual({ epoch: [0, 3] });
});
