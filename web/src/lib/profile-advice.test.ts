import { expect, test } from "vitest";
import { adviceMarkdown } from "./profile-advice";
import type { ProfileAdvice, ShownFinding } from "./schema";

const finding: ShownFinding = {
  rule: "perf.loader-in-main-process",
  severity: "warning",
  message: "the DataLoader runs in the main process\nwhile training waits for it",
  place: "train.py:34",
  function: "",
  step: null,
  seen: "",
  fix: "num_workers=4",
  lines: [],
  related: [],
  changed: false,
  evidence: {},
  id: "",
  series: [],
  metrics: [],
  edits: [],
};

test("the verdict can be pasted into an issue", () => {
  const advice: ProfileAdvice = {
    headline: "83% of each step is spent waiting for data (41 ms of 49 ms)",
    kind: "input",
    step_ns: 49e6,
    saving_ns: 31e6,
    advice: [
      { finding, gain: "saves about 31 ms a step (2.7x)", share: 0.83, saving_ns: 31e6, how: "", shares_with: "" },
    ],
    notes: [],
    why: "",
  };
  expect(adviceMarkdown(advice)).toBe(
    "**83% of each step is spent waiting for data (41 ms of 49 ms)**\n\n" +
      "1. the DataLoader runs in the main process while training waits for it (`train.py:34`)  \n" +
      "   num_workers=4: **saves about 31 ms a step (2.7x)**",
  );
});
