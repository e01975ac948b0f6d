import { expect, test } from "vitest";
import { bestOf, goalOf } from "./best";

test("the goal is read from names that everybody knows, and never guessed", () => {
  const keys = [
    "loss.min",
    "val/loss.last",
    "train/acc.max",
    "val_accuracy.last",
    "lr.last",
    "config.loss",
    "loss.count",
    "grad_norm.last",
    "top1.max",
  ];
  expect(keys.map(goalOf)).toEqual(["min", "min", "max", "max", null, null, null, null, "max"]);
});

test("the best is finite and better than another", () => {
  expect(bestOf([0.3, 0.1, "NaN", null, undefined, 0.2], "min")).toBe(0.1);
  expect(bestOf([0.3, 0.1], "max")).toBe(0.3);
  expect(bestOf([0.3], "min")).toBeNull();
  expect(bestOf([0.3, 0.3], "min")).toBeNull();
  expect(bestOf([1, 2], null)).toBeNull();
});
