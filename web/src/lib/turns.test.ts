import { expect, test } from "vitest";
import { Turns } from "./turns";

test("one job in every frame, in order; who leaves the line is not called", () => {
  const frames: (() => void)[] = [];
  const turns = new Turns((next) => void frames.push(next));
  const done: string[] = [];
  const leave = ["a", "b", "c"].map((name) => turns.take(() => void done.push(name)));
  expect(frames).toHaveLength(1);
  frames.shift()?.();
  expect(done).toEqual(["a"]);
  leave[1]?.();
  frames.shift()?.();
  expect([done.join(""), frames.length]).toEqual(["ac", 0]);
  turns.take(() => void done.push("late"));
  frames.shift()?.();
  expect(done).toEqual(["a", "c", "late"]);
});
