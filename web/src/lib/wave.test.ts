import { describe, expect, it } from "vitest";
import { clockOf, peaksOf } from "./wave";

describe("a sound as a picture", () => {
  it("keeps the extremes of each slice, over all channels", () => {
    const left = Float32Array.from([0, 0.5, -0.25, 0, 0, 0.125]);
    const right = Float32Array.from([0, 0, 0, 0, -1, 0]);
    const { low, high } = peaksOf([left, right], 3);
    expect([...high]).toEqual([0.5, 0, 0.125]);
    expect([...low]).toEqual([0, -0.25, -1]);
  });

  it("loses no sample, however the slices fall", () => {
    for (let at = 0; at < 97; at++) {
      const samples = new Float32Array(97);
      samples[at] = 1;
      expect(Math.max(...peaksOf([samples], 10).high)).toBe(1);
    }
  });

  it("takes silence of no length", () => {
    expect(peaksOf([], 10).high).toHaveLength(1);
  });

  it("reads a clock", () => {
    expect([3.24, 65, 725, Number.NaN].map(clockOf)).toEqual(["0:03.2", "1:05.0", "12:05", "–"]);
  });
});
