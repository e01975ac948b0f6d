import { beforeEach, expect, test } from "vitest";
import { DrawQueue } from "./draw-queue";

let frames: ((now: number) => void)[] = [];
let time = 0;
let drawn: string[] = [];
const queue = () =>
  new DrawQueue(
    (work) => frames.push(work),
    () => time,
  );
const pass = (ms: number): string[] => {
  time += ms;
  drawn = [];
  for (const work of frames.splice(0)) work(time);
  return drawn;
};
const charts = Array.from({ length: 12 }, (_, i) => ({ name: `c${i}` }));
const askAll = (made: DrawQueue, cost = 0) => {
  for (const chart of charts)
    made.ask(chart, () => {
      drawn.push(chart.name);
      time += cost;
    });
};

beforeEach(() => {
  frames = [];
  time = 0;
});

test("quick frames take more and more charts, and each is drawn once", () => {
  const made = queue();
  askAll(made);
  askAll(made);
  expect(frames.length).toBe(1);
  expect(pass(16)).toEqual(["c0", "c1"]);
  expect(pass(16)).toEqual(["c2", "c3", "c4", "c5"]);
  expect(pass(16)).toEqual(["c6", "c7", "c8", "c9", "c10", "c11"]);
  expect(frames.length).toBe(0);
});

test("slow frames take fewer, down to one", () => {
  const made = queue();
  askAll(made);
  expect([
    pass(16).length,
    pass(16).length,
    pass(90).length,
    pass(90).length,
    pass(90).length,
    pass(30).length,
  ]).toEqual([2, 4, 2, 1, 1, 1]);
});

test("long work of our own is put off, but one chart is always drawn", () => {
  const made = queue();
  askAll(made, 30);
  expect(pass(16)).toEqual(["c0"]);
});

test("the chart under the mouse comes first; one that is asked for again keeps its place", () => {
  const made = queue();
  askAll(made);
  made.ask(charts[9] as object, () => drawn.push("under the mouse"), true);
  expect(pass(16)).toEqual(["under the mouse", "c0"]);
  made.ask(charts[0] as object, () => drawn.push("again"));
  expect(pass(30)).toEqual(["c1", "c2"]);
});

test("what is gone is not drawn, and what is wanted now is drawn now", () => {
  const made = queue();
  askAll(made);
  made.drop(charts[0] as object);
  drawn = [];
  made.now(charts[5] as object);
  expect(drawn).toEqual(["c5"]);
  made.flush();
  expect(drawn).toEqual(["c5", "c1", "c2", "c3", "c4", "c6", "c7", "c8", "c9", "c10", "c11"]);
  expect(pass(16)).toEqual([]);
});
