import { expect, test } from "vitest";
import { completed, mentionNotice, placeWords, typedName } from "./mentions";

test("a name is being typed after an @ that begins a word", () => {
  expect(typedName("see @bo", 7)).toEqual({ at: 4, start: "bo" });
  expect(typedName("@", 1)).toEqual({ at: 0, start: "" });
  expect(typedName("see @bo there", 7)).toEqual({ at: 4, start: "bo" });
  expect(typedName("ada@example", 11)).toBeNull();
  expect(typedName("see @bo now", 11)).toBeNull();
});

test("completing puts one space behind the name", () => {
  expect(completed("see @b there", 6, "bo.x")).toEqual({ text: "see @bo.x there", caret: 10 });
  expect(completed("@", 1, "ada")).toEqual({ text: "@ada ", caret: 5 });
  expect(completed("nothing", 7, "ada")).toEqual({ text: "nothing", caret: 7 });
});

const COMMENT = {
  id: "c1",
  run: "01J",
  report: null,
  chart: "train/loss",
  step: 1200,
  user: "ada",
  text: "look, @bo",
  created: 5,
  mine: false,
};

test("a comment says where it stands", () => {
  expect(placeWords(COMMENT)).toBe("train/loss, step 1,200");
  expect(placeWords({ chart: "train/loss", step: null })).toBe("train/loss");
  expect(placeWords({ chart: null, step: null })).toBe("");
});

test("a mention is a notice of the run, or of the report", () => {
  expect(mentionNotice(COMMENT)).toMatchObject({ run: "01J", title: "ada mentioned you", kind: "mention", time: 5 });
  expect(mentionNotice({ ...COMMENT, run: null, report: "results-abc" })).toMatchObject({
    run: "",
    project: "results-abc",
  });
});
