import { describe, expect, it } from "vitest";
import { MediaCache } from "./media-cache";
import { kindCounts, kindWord } from "./media-kinds";
import { neighbours, stepAt, stopOf, unionOf } from "./media-steps";
import type { MediaData, MediaItem } from "./schema";

const item = (text: string): MediaItem => ({
  run: "a",
  key: "k",
  step: 0,
  time: 0,
  kind: "text",
  mime: "text/plain",
  index: 0,
  count: 1,
  meta: {},
  url: null,
  text,
  histogram: null,
  error: null,
});

describe("one slider for all runs", () => {
  it("stops at each step that any run has", () => {
    expect(unionOf([[0, 10, 20], [5, 10], []])).toEqual([0, 5, 10, 20]);
  });

  it("finds the last stop at or before a step, and the newest for none", () => {
    const steps = [0, 5, 10, 20];
    expect([-1, 0, 4, 5, 19, 20, 99].map((step) => stopOf(steps, step))).toEqual([0, 0, 0, 1, 2, 3, 3]);
    expect(stopOf(steps, null)).toBe(3);
    expect(stopOf([], null)).toBe(-1);
  });

  it("follows a run that goes on when it stands at the end", () => {
    expect([0, 2, 3].map((stop) => stepAt([0, 5, 10, 20], stop))).toEqual([0, 10, null]);
  });

  it("fetches ahead in the direction of travel", () => {
    expect(neighbours([0, 5, 10, 20, 30], 1, true)).toEqual([10, 20, 0]);
    expect(neighbours([0, 5, 10, 20, 30], 4, false)).toEqual([20, 10]);
  });
});

describe("kinds", () => {
  it("are counted in the order of the filter, unknown ones last", () => {
    expect(kindCounts([{ kind: "zebra" }, { kind: "text" }, { kind: "image" }, { kind: "image" }])).toEqual([
      { kind: "image", count: 2 },
      { kind: "text", count: 1 },
      { kind: "zebra", count: 1 },
    ]);
    expect(kindWord("zebra")).toBe("zebra");
  });
});

describe("answers that are kept", () => {
  it("are asked for once, also when two ask at the same time", async () => {
    let asked = 0;
    const cache = new MediaCache(async () => (asked++, { items: [], steps: [] }));
    await Promise.all([cache.get(["a"], "k", 1), cache.get(["a"], "k", 1)]);
    await cache.get(["a"], "k", 1);
    await cache.get(["a"], "k", null);
    expect(asked).toBe(2);
    cache.clear();
    expect(cache.peek(["a"], "k", 1)).toBeNull();
  });

  it("are bounded by number and by size", async () => {
    const few = new MediaCache(async () => ({ items: [], steps: [] }), 3);
    for (let step = 0; step < 10; step++) await few.get(["a"], "k", step);
    expect(few.count).toBe(3);
    expect(few.peek(["a"], "k", 9)).not.toBeNull();
    const small = new MediaCache(
      async (): Promise<MediaData> => ({ items: [item("x".repeat(1000))], steps: [] }),
      100,
      3000,
    );
    for (let step = 0; step < 10; step++) await small.get(["a"], "k", step);
    expect(small.count).toBe(2);
  });

  it("asks again after a failure", async () => {
    let asked = 0;
    const cache = new MediaCache(async () => {
      if (asked++ === 0) throw new Error("gone");
      return { items: [], steps: [] };
    });
    await expect(cache.get(["a"], "k", 1)).rejects.toThrow("gone");
    await expect(cache.get(["a"], "k", 1)).resolves.toEqual({ items: [], steps: [] });
  });
});
