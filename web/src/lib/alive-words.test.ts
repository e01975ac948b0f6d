import { expect, test } from "vitest";
import { ageWords, machineWords, shortWords, speedWords } from "./alive-words";
import type { Alive } from "./schema";

const run = (change: Partial<Alive>): Alive => ({
  run: "r",
  state: "moving",
  why: "",
  step: 1200,
  silent_s: 1,
  steps_per_s: 12.5,
  progress: null,
  of: "",
  eta_s: null,
  gpu_percent: null,
  gpu_memory_percent: null,
  memory_bytes: null,
  cpu_percent: null,
  ...change,
});

test.each([
  [run({}), "step 1,200 · 12.5 steps/s"],
  [run({ steps_per_s: 0.25 }), "step 1,200 · 4 s/step"],
  [run({ progress: 0.42, eta_s: 185 }), "42% · 3m left"],
  [run({ progress: 0.998, eta_s: 0.4 }), "99% · almost done"],
  [run({ state: "stalled", silent_s: 700 }), "stalled 11m 40s ago"],
  [run({ state: "stalled", silent_s: null }), "stalled"],
  [run({ state: "waiting", progress: 0.3 }), "waiting"],
  [run({ state: "diverged", progress: 0.3 }), "diverged"],
  [run({ state: "quiet", step: null }), "starting"],
])("%j", (alive, words) => {
  expect(shortWords(alive)).toBe(words);
});

test("what is not known is not said", () => {
  expect([speedWords(null), ageWords(null), machineWords(run({}))]).toEqual(["", "", []]);
  expect(machineWords(run({ gpu_percent: 81.6, memory_bytes: 612786176 }))).toEqual(["GPU 82%", "584 MiB memory"]);
  expect([ageWords(0.4), ageWords(12.2)]).toEqual(["now", "12s ago"]);
});
