import { describe, expect, it } from "vitest";
import { compilePattern } from "./chart-regex";
import { searchFor } from "./chart-search";
import { cpuMs } from "./cpu-fixtures";

const names = ["loss", "val/loss", "train/acc", "system/gpu.0.util", "val/acc_top5"];
const found = (text: string, regex: boolean) => names.filter(searchFor(text, regex).matches);

describe("plain words", () => {
  it("must all occur, in any case", () => {
    expect(found("VAL loss", false)).toEqual(["val/loss"]);
  });
  it("with ! must not occur", () => {
    expect(found("loss !val", false)).toEqual(["loss"]);
  });
  it("are not read as a pattern", () => {
    expect(found("gpu.0", false)).toEqual(["system/gpu.0.util"]);
    expect(found(".*", false)).toEqual([]);
  });
});

describe("patterns", () => {
  it.each([
    ["^val/", ["val/loss", "val/acc_top5"]],
    ["loss$", ["loss", "val/loss"]],
    ["^(train|val)/acc", ["train/acc", "val/acc_top5"]],
    ["gpu\\.\\d", ["system/gpu.0.util"]],
    ["top[0-9]", ["val/acc_top5"]],
    ["l.s+$", ["loss", "val/loss"]],
    ["^[^/]+$", ["loss"]],
    ["s{2}", ["loss", "val/loss"]],
    ["\\bacc\\b", ["train/acc"]],
    ["!loss|system", ["train/acc", "val/acc_top5"]],
    ["", names],
  ])("%s", (pattern, expected) => expect(found(pattern, true)).toEqual(expected));

  it.each(["(", "[a", "*", "a)", "\\", "a{3,1}", "(?=a)", "[z-a]", "x{2000}"])(
    "%s is an error in words, and shows everything",
    (bad) => {
      const search = searchFor(bad, true);
      expect(search.error).toMatch(/\w/);
      expect(search.matches("anything")).toBe(true);
    },
  );

  it("never takes long: nested repeats against a long name", () => {
    const started = cpuMs();
    for (const evil of ["(a+)+$", "(a|a)*b", "(a*)*(a*)*c", "((a{0,30}){0,30})x"]) {
      const search = searchFor(evil, true);
      search.matches(`${"a".repeat(5000)}!`);
    }
    expect(cpuMs() - started).toBeLessThan(2000);
  });

  it("agree with the language's own expressions", () => {
    for (const pattern of ["a*b", "(ab)+", "a?b?c", "[ab]{2,3}c", "^a|b$", "a.c", "x*"]) {
      for (const text of ["", "a", "b", "ab", "abab", "abc", "aabbc", "ac", "bca", "cab"]) {
        expect([pattern, text, compilePattern(pattern)(text)]).toEqual([pattern, text, new RegExp(pattern).test(text)]);
      }
    }
  });
});
