import { describe, expect, it } from "vitest";
import { accuracy, changed, scoreOf, shares } from "./confusion";
import { areaOf, averagePrecision, trapezoids } from "./curve-area";

const matrix = {
  labels: ["a", "b"],
  counts: [
    [8, 2],
    [4, 6],
  ],
};

describe("confusion matrices", () => {
  it("are shares of rows, which are true classes, or of columns, which are predictions", () => {
    expect(shares(matrix, "row")).toEqual([
      [0.8, 0.2],
      [0.4, 0.6],
    ]);
    expect(shares(matrix, "column")).toEqual([
      [8 / 12, 2 / 8],
      [4 / 12, 6 / 8],
    ]);
    expect(
      shares(
        {
          labels: ["a", "b"],
          counts: [
            [0, 0],
            [1, 1],
          ],
        },
        "row",
      ),
    ).toEqual([
      [0, 0],
      [0.5, 0.5],
    ]);
  });

  it("say precision, recall and F1 of a class", () => {
    const { precision, recall, f1 } = scoreOf(matrix, 0);
    expect([precision, recall]).toEqual([8 / 12, 0.8]);
    expect(f1).toBeCloseTo((2 * (8 / 12) * 0.8) / (8 / 12 + 0.8), 12);
    expect(scoreOf({ labels: ["a"], counts: [[0]] }, 0)).toEqual({ precision: null, recall: null, f1: null });
    expect(accuracy(matrix)).toBe(0.7);
  });

  it("are compared only where the classes are the same", () => {
    expect(
      changed(
        matrix,
        {
          labels: ["a", "b"],
          counts: [
            [10, 0],
            [4, 6],
          ],
        },
        "count",
      ),
    ).toEqual([
      [2, -2],
      [0, 0],
    ]);
    expect(
      changed(
        matrix,
        {
          labels: ["a", "c"],
          counts: [
            [1, 1],
            [1, 1],
          ],
        },
        "count",
      ),
    ).toBeNull();
  });
});

describe("areas under curves", () => {
  it("is a half for chance and one for a perfect ranking", () => {
    expect(trapezoids([0, 1], [0, 1])).toBe(0.5);
    expect(trapezoids([0, 0, 1], [0, 1, 1])).toBe(1);
  });

  it("is the mean of the precision at each hit", () => {
    // Ranking: hit, miss, hit. Precision at the hits is 1 and 2/3.
    expect(averagePrecision([0, 0.5, 0.5, 1], [1, 1, 0.5, 2 / 3])).toBeCloseTo((1 + 2 / 3) / 2, 12);
    expect(areaOf("calibration", [0, 1], [0, 1])).toBeNull();
  });
});
