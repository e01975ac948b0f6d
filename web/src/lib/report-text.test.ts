import { describe, expect, it } from "vitest";
import {
  appendBlock,
  changeBetween,
  insertBlock,
  lineAt,
  moveSpan,
  offsetOf,
  panelText,
  replaceSpan,
  slashAt,
} from "./report-text";

describe("a panel as text", () => {
  it("has one option a line, JSON only where plain text would be read as something else", () => {
    expect(
      panelText("chart", {
        key: "train/loss",
        smooth: "ema:0.6",
        log: true,
        height: 300,
        tag: "7",
        note: " a ",
        empty: "",
        none: null,
      }),
    ).toBe('```stepscope chart\nkey: train/loss\nsmooth: ema:0.6\nlog: true\nheight: 300\ntag: "7"\nnote: " a "\n```');
  });
  it("cannot be ended by a value", () => {
    expect(panelText("note", { text: "a\n```\n# out" })).toBe('```stepscope note\ntext: "a\\n```\\n# out"\n```');
  });
});

const TEXT = "# A\n\ntext\n\n```stepscope chart\nkey: loss\n```\n\nmore\n";

describe("a panel in the text", () => {
  it("is changed where it stands", () => {
    expect(replaceSpan(TEXT, { line: 4, end: 7 }, "X")).toBe("# A\n\ntext\n\nX\n\nmore\n");
  });
  it("is taken out with the empty line after it", () => {
    expect(replaceSpan(TEXT, { line: 4, end: 7 }, "")).toBe("# A\n\ntext\n\nmore\n");
  });
  it("is put in with air around it", () => {
    expect(insertBlock("a\nb", 1, "X")).toBe("a\n\nX\n\nb");
    expect(insertBlock("", 0, "X")).toBe(`${"X\n\n".trimEnd()}\n`);
    expect(appendBlock("a\n\n\n", "X")).toBe("a\n\nX\n");
  });
  it("moves up and down, and back again gives the same text", () => {
    const up = moveSpan(TEXT, { line: 4, end: 7 }, 2);
    expect(up).toBe("# A\n\n```stepscope chart\nkey: loss\n```\n\ntext\n\nmore\n");
    expect(moveSpan(up, { line: 2, end: 5 }, 8)).toBe(TEXT);
    expect(moveSpan(TEXT, { line: 4, end: 7 }, 5)).toBe(TEXT);
  });
});

describe("places", () => {
  it("lines and offsets agree", () => {
    for (let line = 0; line < 9; line++) expect(lineAt(TEXT, offsetOf(TEXT, line))).toBe(line);
  });
  it("a change is the smallest stretch", () => {
    expect(changeBetween("one two three", "one 2 three")).toEqual({ from: 4, to: 7, text: "2" });
    expect(changeBetween("aa", "aaa")).toEqual({ from: 2, to: 2, text: "a" });
    expect(changeBetween("same", "same")).toEqual({ from: 4, to: 4, text: "" });
  });
  it("a slash alone on its line asks for the menu, one inside text does not", () => {
    expect(slashAt("text\n/Ch", 8)).toEqual({ from: 5, word: "ch" });
    expect(slashAt("a/b", 2)).toBeNull();
    expect(slashAt("/ch more", 3)).toBeNull();
    expect(slashAt("/usr/bin", 8)).toBeNull();
  });
});
