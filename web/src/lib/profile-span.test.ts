import { expect, test } from "vitest";
import { movingSpan } from "./profile-span";
import type { Curve } from "./schema";

const curve = (at_ns: number[], line: number[]): Curve => ({ id: "m", title: "M", at_ns, lines: { cpu: line } });

test("a long beginning in which nothing moves is left out, but for a little", () => {
  expect(movingSpan(curve([0, 900, 950, 1000], [0, 5, 3, 4]))).toEqual([897, 1000]);
});

test("a short one stays, and so does a curve that never moves", () => {
  expect(movingSpan(curve([0, 100, 900, 1000], [0, 5, 3, 4]))).toEqual([0, 1000]);
  expect(movingSpan(curve([0, 500, 1000], [7, 7, 7]))).toEqual([0, 1000]);
  expect(movingSpan(curve([], []))).toEqual([0, 1]);
});

test("the same holds at the end", () => {
  expect(movingSpan(curve([0, 100, 200, 1000], [0, 5, 3, 3]))).toEqual([0, 203]);
});
