import { beforeAll, describe, expect, it, vi } from "vitest";
import table from "../../../tests/views/patterns.json";
import { searchFor } from "./chart-search";
import { cpuMs } from "./cpu-fixtures";
import { compilePattern, loadPatterns, PatternError } from "./pattern";

beforeAll(loadPatterns);

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

  it("shows everything until the engine is there", async () => {
    vi.resetModules();
    const fresh = await import("./chart-search");
    const early = fresh.searchFor("^val/", true);
    expect([early.error, names.filter(early.matches)]).toEqual([null, names]);
  });
});

/** The server keeps to the same table: tests/views/test_safe_pattern.py. */
describe("patterns mean the same on both sides", () => {
  it.each(table.fits as [string, string, boolean][])("%s in %s: %s", (pattern, text, fits) =>
    expect(compilePattern(pattern)(text)).toBe(fits),
  );
  it.each(table.unreadable as [string, number][])("%s cannot be read", (pattern) =>
    expect(() => compilePattern(pattern)).toThrow(PatternError),
  );
});
