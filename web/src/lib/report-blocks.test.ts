import { describe, expect, it } from "vitest";
import { huesOf, beginsWithTitle, headingsOf, type ReportBlock, settle, slug } from "./report-blocks";
import type { PanelBlock } from "./schema";

const text = (text: string, line = 0): ReportBlock => ({ kind: "markdown", text, line, end: line + 1 });
const panel = (key: string, line = 0): PanelBlock => ({
  kind: "panel",
  panel: "chart",
  options: { key },
  runs: [],
  error: null,
  line,
  end: line + 3,
});

describe("contents", () => {
  it("have an anchor of their own for each heading", () => {
    const shown = settle([], [text("# Results\n\n## The **loss**\n"), text("## The loss\n### 中文 ok")]);
    expect(headingsOf(shown)).toEqual([
      { id: "results", level: 1, text: "Results" },
      { id: "the-loss", level: 2, text: "The loss" },
      { id: "the-loss-2", level: 2, text: "The loss" },
      { id: "中文-ok", level: 3, text: "中文 ok" },
    ]);
    expect(beginsWithTitle(shown)).toBe(true);
    expect(beginsWithTitle(settle([], [panel("a")]))).toBe(false);
  });
  it("always have some anchor", () => {
    expect([slug("!!!"), slug("A/B <test>")]).toEqual(["section", "a-b-test"]);
  });
});

describe("panels while the text changes", () => {
  const keys = (shown: ReturnType<typeof settle>) => shown.filter((one) => one.kind === "panel").map((one) => one.key);

  it("keep key and options when only the text around them changed", () => {
    const before = settle([], [text("a"), panel("loss", 1)]);
    const after = settle(before, [text("a\nb"), panel("loss", 2)]);
    expect(keys(after)).toEqual(keys(before));
    const [old, next] = [before[1], after[1]].map((one) => (one?.kind === "panel" ? one.block : null));
    expect(next?.options).toBe(old?.options);
    expect(next?.line).toBe(2);
  });
  it("keep their keys when they change places", () => {
    const before = settle([], [panel("loss"), panel("lr")]);
    expect(keys(settle(before, [panel("lr"), panel("loss")]))).toEqual(keys(before).reverse());
  });
  it("keep the key when an option changed, and get a new one when they are new", () => {
    const before = settle([], [panel("loss"), panel("lr")]);
    const after = settle(before, [panel("loss"), panel("acc"), panel("extra")]);
    expect(keys(after).slice(0, 2)).toEqual(keys(before));
    expect(keys(before)).not.toContain(keys(after)[2]);
  });
  it("that are equal twins have two keys", () => {
    expect(new Set(keys(settle([], [panel("loss"), panel("loss")]))).size).toBe(2);
  });
});

describe("runs of a report", () => {
  it("have their hues in the order in which the panels show them, once each", () => {
    const run = (id: string, hue: number) => ({
      id,
      name: id,
      project: "p",
      status: "finished" as const,
      hue,
      created: 0,
    });
    const panel = (line: number, ...runs: ReturnType<typeof run>[]) => ({
      kind: "panel" as const,
      panel: "chart",
      options: {},
      runs,
      line,
      end: line + 1,
      error: null,
    });
    const text = { kind: "markdown" as const, text: "words", line: 1, end: 2 };
    const shown = settle([], [panel(0, run("b", 7)), text, panel(2, run("a", 1), run("b", 7))]);
    expect([...huesOf(shown)]).toEqual([
      ["b", 7],
      ["a", 1],
    ]);
  });
});
