import { expect, test } from "vitest";
import { sparkOf } from "./spark";

test("a line goes from the left edge to the right, high values at the top", () => {
  expect(sparkOf([1, 0], 20, 10)).toEqual({ path: "M2 2L18 8", broken: null, end: { x: 18, y: 8 } });
});

test("values that are not finite leave a gap, and the place is marked", () => {
  expect(sparkOf([0, 1, null, 0], 62, 10)).toEqual({
    path: "M2 8L21.3 2M60 8",
    broken: { x: 21.3, y: 2 },
    end: { x: 60, y: 8 },
  });
});

test("nothing, one value and a flat line are drawn without a fault", () => {
  expect(sparkOf([], 20, 10).path).toBe("");
  expect(sparkOf([null], 20, 10).path).toBe("");
  expect(sparkOf([5], 20, 10).path).toBe("M2 5");
  expect(sparkOf([5, 5], 20, 10).path).toBe("M2 5L18 5");
});
