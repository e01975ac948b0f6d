import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "./api";
import { rawLine } from "./chart-fixtures";
import { answerOf } from "./chart-line";
import { bucketsFor, planRequests, type View } from "./chart-plan";
import { SeriesStore } from "./chart-store";
import type { SeriesData, SeriesRequest } from "./schema";

const view: View = {
  x: "step",
  window: null,
  buckets: 400,
  smoothing: { kind: "none", amount: 0 },
  superseded: false,
  ranks: false,
};

describe("requests", () => {
  it("join all panels that are drawn the same way", () => {
    const plan = planRequests([
      { key: "a", view, runs: ["1", "2"] },
      { key: "b", view, runs: ["1", "2"] },
      { key: "c", view: { ...view, x: "epoch" }, runs: ["1", "2"] },
    ]);
    expect(plan.map((r) => [r.keys, r.x])).toEqual([
      [["a", "b"], "step"],
      [["c"], "epoch"],
    ]);
  });
  it("ask for fewer buckets when there are many lines", () => {
    expect([bucketsFor(390, 5), bucketsFor(1400, 5), bucketsFor(390, 500), bucketsFor(390, 100_000)]).toEqual([
      400, 1400, 100, 100,
    ]);
  });
});

describe("the store", () => {
  let asked: SeriesRequest[] = [];
  let answer: (request: SeriesRequest) => Promise<SeriesData>;
  const settle = () => vi.advanceTimersByTimeAsync(6000);
  const make = () =>
    new SeriesStore((request) => {
      asked.push(request);
      return answer(request).then(answerOf);
    });
  const lines = async (request: SeriesRequest): Promise<SeriesData> => ({
    lines: request.keys.flatMap((key) => request.runs.map((run) => rawLine([1, 2], { run, key }))),
    missing: [],
    partial: false,
  });

  beforeEach(() => {
    vi.useFakeTimers();
    asked = [];
    answer = lines;
  });
  afterEach(() => vi.useRealTimers());

  it("asks once for all visible panels, and not for those off the screen", async () => {
    const store = make();
    for (const key of ["a", "b", "hidden"]) store.want(key, view, ["1"]);
    store.show("a");
    store.show("b");
    await settle();
    expect(asked.map((r) => r.keys)).toEqual([["a", "b"]]);
    expect(store.lines("a").value.lines.map((l) => l.run)).toEqual(["1"]);
    expect(store.lines("hidden").value.fresh).toBe(true);
  });

  it("asks at once for what is foreseen, and not again when the panels come", async () => {
    const store = make();
    store.foresee(["a", "b"].map((key) => ({ key, view, runs: ["1"] })));
    expect(asked.map((r) => r.keys)).toEqual([["a", "b"]]);
    store.show("a"); // mounted, its width not known yet: what is on its way is not given up
    await vi.advanceTimersByTimeAsync(20);
    store.want("a", view, ["1"]);
    await settle();
    expect(asked).toHaveLength(1);
    expect(store.lines("a").value.lines.map((l) => l.run)).toEqual(["1"]);
  });

  it("asks again when the panels want something else than was foreseen", async () => {
    const store = make();
    store.foresee([{ key: "a", view, runs: ["1"] }]);
    store.show("a");
    store.want("a", { ...view, buckets: 800 }, ["1"]);
    await settle();
    expect(asked.map((r) => r.buckets)).toEqual([400, 800]);
    expect(store.lines("a").value.lines.map((l) => l.run)).toEqual(["1"]);
  });

  it("asks only for runs that changed or are new", async () => {
    const store = make();
    store.show("a");
    store.want("a", view, ["1", "2"]);
    await settle();
    store.want("a", view, ["1", "2", "3"]);
    await settle();
    store.changed(["2", "other"]);
    await settle();
    expect(asked.slice(0, 3).map((r) => r.runs)).toEqual([["1", "2"], ["3"], ["2"]]);
    expect(store.lines("a").value.lines.map((l) => l.run)).toEqual(["1", "2", "3"]);
  });

  it("shows a run again without asking when its eye opens", async () => {
    const store = make();
    store.show("a");
    store.want("a", view, ["1", "2"]);
    await settle();
    store.want("a", view, ["1"]);
    await settle();
    store.want("a", view, ["1", "2"]);
    await settle();
    expect(asked.length).toBe(1);
  });

  it("keeps drawing the old lines while a zoom is fetched, and returns from it without asking", async () => {
    const store = make();
    store.show("a");
    store.want("a", view, ["1"]);
    await settle();
    const zoomed = { ...view, window: [0, 1] as const };
    store.want("a", zoomed, ["1"], 130);
    expect(store.lines("a").value).toMatchObject({ loading: true, fresh: false, lines: [{ run: "1" }] });
    await settle();
    expect(asked[1]).toMatchObject({ lo: 0, hi: 1 });
    store.want("a", view, ["1"]);
    expect(store.lines("a").value.loading).toBe(false);
    await settle();
    expect(asked.length).toBe(2);
  });

  it("asks only for where a moving zoom comes to rest", async () => {
    const store = make();
    store.show("a");
    for (let i = 1; i < 20; i++) {
      store.want("a", { ...view, window: [0, i] }, ["1"], 130);
      await vi.advanceTimersByTimeAsync(30);
    }
    await settle();
    expect(asked.map((r) => r.hi)).toEqual([19]);
  });

  it("shows an error in the panel, waits, and tries again when told to", async () => {
    const store = make();
    answer = () => Promise.reject(new ApiError("The server does not answer.", 0));
    store.show("a");
    store.want("a", view, ["1"]);
    await settle();
    expect(store.lines("a").value.error).toBe("The server does not answer.");
    expect(asked.length).toBe(1);
    answer = lines;
    store.retry("a");
    await settle();
    expect(store.lines("a").value).toMatchObject({ error: null, loading: false });
  });

  it("looks again when points come while an answer is under way", async () => {
    const store = make();
    let release = () => {};
    answer = (request) => new Promise((resolve) => (release = () => resolve(lines(request))));
    store.show("a");
    store.want("a", view, ["1"]);
    await settle();
    release();
    await settle();
    store.changed(["1"]);
    await vi.advanceTimersByTimeAsync(50);
    store.changed(["1"]);
    release();
    await settle();
    release();
    await settle();
    expect(asked.length).toBeGreaterThanOrEqual(3);
  });

  it("looks again when points come while the very first answer is under way", async () => {
    const store = make();
    let release = () => {};
    answer = (request) => new Promise((resolve) => (release = () => resolve(lines(request))));
    store.show("a");
    store.want("a", view, ["1"]);
    await vi.advanceTimersByTimeAsync(50);
    store.changed(["1"]);
    release();
    await settle();
    release();
    await settle();
    expect(asked.length).toBeGreaterThanOrEqual(2);
  });

  it("asks seldom for lines whose news nobody could see, and often for those that move", async () => {
    const asksInAMinute = async (growth: number) => {
      const store = make();
      let last = 10_000;
      answer = async (request) => ({
        lines: request.keys.map((key) => rawLine([1, 2], { run: "1", key, x: [0, last] })),
        missing: [],
        partial: false,
      });
      store.show("a");
      store.want("a", view, ["1"]);
      await settle();
      asked = [];
      for (let tick = 0; tick < 120; tick++) {
        last += growth;
        store.changed(["1"]);
        await vi.advanceTimersByTimeAsync(500);
      }
      store.close();
      return asked.length;
    };
    const [still, moving] = [await asksInAMinute(0.1), await asksInAMinute(100)];
    expect(still).toBeLessThanOrEqual(15);
    expect(moving).toBeGreaterThanOrEqual(25);
    expect(moving).toBeLessThanOrEqual(31);
  });

  it("asks once for news, and then rests", async () => {
    const store = make();
    store.show("a");
    store.want("a", view, ["1"]);
    await settle();
    store.changed(["1"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(2);
  });

  it("asks again for the runs that a partial answer left out", async () => {
    const store = make();
    answer = async (request) => {
      const whole = await lines(request);
      return { ...whole, lines: whole.lines.slice(0, 1), partial: whole.lines.length > 1 };
    };
    store.show("a");
    store.want("a", view, ["1", "2", "3"]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(asked.map((r) => r.runs)).toEqual([["1", "2", "3"], ["2", "3"], ["3"]]);
    expect(store.lines("a").value).toMatchObject({ loading: false, lines: [{ run: "1" }, { run: "2" }, { run: "3" }] });
  });

  it("asks for everything again after it was away, and keeps what is drawn meanwhile", async () => {
    const store = make();
    store.show("a");
    store.want("a", view, ["1", "2"]);
    await settle();
    store.refresh();
    expect(store.lines("a").value.lines.length).toBe(2);
    await settle();
    expect(asked.map((r) => r.runs)).toEqual([
      ["1", "2"],
      ["1", "2"],
    ]);
  });

  it("forgets panels that left the screen long ago", async () => {
    const store = make();
    const first = store.lines("0");
    for (let i = 0; i < 200; i++) {
      const hide = store.show(String(i));
      store.want(String(i), view, ["1"]);
      hide();
    }
    expect(store.lines("0")).not.toBe(first);
    store.close();
  });
});
