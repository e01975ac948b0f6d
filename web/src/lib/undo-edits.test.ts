import { expect, test } from "vitest";
import { inverse, wordsOf } from "./undo-edits";

const RUNS = [
  { id: "a", name: "otter", notes: "", tags: ["paper"] },
  { id: "b", name: "heron", notes: "good", tags: [] },
];

test("a tag is taken from those that did not have it", () => {
  expect(inverse({ runs: ["a", "b"], add_tags: ["paper"] }, RUNS)).toEqual([{ runs: ["b"], remove_tags: ["paper"] }]);
  expect(inverse({ runs: ["a", "b"], remove_tags: ["paper"] }, RUNS)).toEqual([{ runs: ["a"], add_tags: ["paper"] }]);
});

test("each run gets its own notes and name back", () => {
  expect(inverse({ runs: ["a", "b"], notes: "x" }, RUNS)).toEqual([
    { runs: ["a"], notes: "" },
    { runs: ["b"], notes: "good" },
  ]);
  expect(inverse({ runs: ["b"], name: "stoat" }, RUNS.slice(1))).toEqual([{ runs: ["b"], name: "heron" }]);
});

test("what changed nothing needs no undoing", () => {
  expect(inverse({ runs: ["b"], notes: "good" }, RUNS.slice(1))).toEqual([]);
});

test("says what it was", () => {
  expect(wordsOf({ runs: ["a"], add_tags: ["paper"] })).toBe("tag “paper”");
  expect(wordsOf({ runs: ["a", "b"], notes: "" })).toBe("notes of 2 runs");
});
