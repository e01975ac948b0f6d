import { beforeAll, describe, expect, test } from "vitest";
import { markSpans, parseAnsi, readableInk, stripAnsi, textFinder } from "./ansi";
import { cpuMs } from "./cpu-fixtures";
import { findPattern, loadPatterns } from "./pattern";

beforeAll(loadPatterns);

const looks = (text: string) => parseAnsi(text).map((span) => [span.text, span.style]);

describe("terminal colours", () => {
  test("the sixteen, bright ones, and back to none", () => {
    expect(looks("a\x1b[31mb\x1b[1;92mc\x1b[0md")).toEqual([
      ["a", {}],
      ["b", { fg: 1 }],
      ["c", { fg: 10, bold: true }],
      ["d", {}],
    ]);
    expect(looks("\x1b[44;4mx\x1b[49;24my")).toEqual([
      ["x", { bg: 4, underline: true }],
      ["y", {}],
    ]);
    expect(looks("\x1b[1;2mx\x1b[22my\x1b[mz")).toEqual([
      ["x", { bold: true, dim: true }],
      ["y", {}],
      ["z", {}],
    ]);
  });

  test("256 colours and true colours, and what is none of them", () => {
    expect(looks("\x1b[38;5;208mx")).toEqual([["x", { fg: [255, 135, 0] }]]);
    expect(looks("\x1b[38;5;244mx")).toEqual([["x", { fg: [128, 128, 128] }]]);
    expect(looks("\x1b[38;5;9mx")).toEqual([["x", { fg: 9 }]]);
    expect(looks("\x1b[48;2;1;2;3;1mx")).toEqual([["x", { bg: [1, 2, 3], bold: true }]]);
    expect(looks("\x1b[38;5;999mx\x1b[38;2;999;0;0my\x1b[38mz")).toEqual([
      ["x", {}],
      ["y", {}],
      ["z", {}],
    ]);
  });

  test("everything else that starts with an escape is dropped, also when it is cut off", () => {
    expect(
      stripAnsi("a\x1b[2Kb\x1b[10;2Hc\x1b]8;;http://x\x07link\x1b]8;;\x1b\\d\x1bMe\x1b(Bf\x1b[?25lg\x1b[38;5"),
    ).toBe("abclinkdefg");
    expect(looks("\x1b]0;title\x07x\x1b[A\x1b[>4;1my\x1bP1$r\x1b\\z")).toEqual([
      ["x", {}],
      ["y", {}],
      ["z", {}],
    ]);
    expect(looks("half \x1b]52;c;ZXZpbA")).toEqual([["half ", {}]]);
  });

  test("controls are shown, tabs are spaces, markup stays text", () => {
    expect(looks("a\tb\x07")).toEqual([["a       b\u2407", {}]]);
    expect(looks("<img src=x>\u202e")).toEqual([["<img src=x>\ufffd", {}]]);
    expect(parseAnsi("")).toEqual([]);
  });

  test("a line of nothing but escapes does not take long", () => {
    const began = cpuMs();
    parseAnsi("\x1b[31m.".repeat(50_000));
    parseAnsi("\x1b".repeat(100_000));
    parseAnsi(`\x1b]${"x".repeat(100_000)}`);
    expect(cpuMs() - began).toBeLessThan(1000);
  });

  test("free colours can be read on both papers", () => {
    expect(readableInk([255, 255, 0], false)).not.toBe("rgb(255 255 0)");
    expect(readableInk([255, 255, 0], true)).toBe("rgb(255 255 0)");
    expect(readableInk([0, 0, 128], true)).not.toBe("rgb(0 0 128)");
  });
});

describe("marks", () => {
  const pieces = (text: string, wanted: string, find = textFinder(wanted)) =>
    markSpans(parseAnsi(text), find)
      .map(({ span, marked }) => (marked ? `[${span.text}]` : span.text))
      .join("|");

  test("are cut out of spans, also across a change of colour", () => {
    expect(pieces("a loss and a LOSS", "loss")).toBe("a |[loss]| and a |[LOSS]");
    expect(pieces("a loss", "LOSS")).toBe("a loss");
    expect(pieces("lo\x1b[31mss is", "loss")).toBe("[lo]|[ss]| is");
    expect(pieces("aaa", "a")).toBe("[a]|[a]|[a]");
    expect(pieces("abc", "")).toBe("abc");
  });

  test("patterns are marked where they fit, as far as they go", () => {
    const fit = (text: string, pattern: string) => pieces(text, "", findPattern(pattern));
    expect(fit("step 12 of 345", "\\d+")).toBe("step |[12]| of |[345]");
    expect(fit("😀 nan Inf", "nan|inf")).toBe("😀 |[nan]| |[Inf]");
    expect(fit("abc", "x*")).toBe("abc");
    const began = cpuMs();
    fit("a".repeat(5000), "(a+)+b");
    expect(cpuMs() - began).toBeLessThan(1000);
  });
});
