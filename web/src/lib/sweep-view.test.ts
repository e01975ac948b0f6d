import { describe, expect, it } from "vitest";
import type { SweepView } from "./schema";
import { groupQuery, sayProgress, shares } from "./sweep-view";

const SWEEP = { results: 12, total: 16, left_s: 40 } as SweepView;

describe("a sweep in words", () => {
  it("says how far it is and how long the rest takes", () => {
    expect(sayProgress(SWEEP)).toBe("12 of 16 runs done, about 40s left");
    expect(sayProgress({ ...SWEEP, total: null, left_s: null })).toBe("12 runs done, no end set");
  });

  it("asks for its runs by their group, whatever the name", () => {
    expect(groupQuery('lr "small"')).toBe('group = "lr \\"small\\""');
  });
});

describe("the progress bar", () => {
  it("has a part for each state, in order, and leaves room for what is to come", () => {
    expect(shares({ counts: { running: 2, finished: 4, pruned: 2 }, total: 16 })).toEqual([
      { state: "finished", runs: 4, part: 0.25 },
      { state: "pruned", runs: 2, part: 0.125 },
      { state: "running", runs: 2, part: 0.125 },
    ]);
  });

  it("does not count settings that went back to all workers", () => {
    expect(shares({ counts: { finished: 1, requeued: 3 }, total: 1 })).toEqual([
      { state: "finished", runs: 1, part: 1 },
    ]);
  });

  it("is full when there is no end to compare with", () => {
    expect(shares({ counts: { finished: 3, failed: 1 }, total: null }).map((one) => one.part)).toEqual([0.75, 0.25]);
  });
});
