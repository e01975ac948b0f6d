import { describe, expect, test } from "vitest";
import { fuzzy, marked, ranked } from "./fuzzy";

function order(wanted: string, ...texts: string[]): string[] {
  return ranked(
    wanted,
    texts,
    (text) => text,
    () => 0,
  ).map((one) => one.item);
}

describe("finding by a few letters", () => {
  test("the beginning of a text, then of a word, then the middle", () => {
    expect(order("loss", "glosses", "train/loss", "loss/total")).toEqual(["loss/total", "train/loss", "glosses"]);
  });
  test("first letters of words find it; letters anywhere do not", () => {
    expect(fuzzy("tl", "train/loss")?.at).toEqual([0, 6]);
    expect(fuzzy("gtr", "Go to Reports")?.at).toEqual([0, 3, 6]);
    expect(fuzzy("xz", "extra zeal")).toBeNull();
    expect(fuzzy("oes", "Close the dialog boxes")).toBeNull();
  });
  test("every word has to be there, in any order", () => {
    expect(fuzzy("loss val", "val/loss")).not.toBeNull();
    expect(fuzzy("loss test", "val/loss")).toBeNull();
  });
  test("the shorter of two equals is first", () => {
    expect(order("run", "run the whole thing again", "runs")).toEqual(["runs", "run the whole thing again"]);
  });
  test("what was used lately comes first among equals", () => {
    const found = ranked(
      "r",
      ["runs", "reports"],
      (text) => text,
      (text) => (text === "reports" ? 15 : 0),
    );
    expect(found[0]?.item).toBe("reports");
  });
  test("marks what was found", () => {
    expect(marked("train", [0, 1])).toEqual([
      { text: "tr", on: true },
      { text: "ain", on: false },
    ]);
  });
  test("nothing wanted finds all", () => {
    expect(order("  ", "a", "b")).toEqual(["a", "b"]);
  });
});
