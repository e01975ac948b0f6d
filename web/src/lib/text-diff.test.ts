import { describe, expect, it } from "vitest";
import { cpuMs } from "./cpu-fixtures";
import { diffTexts } from "./text-diff";

const said = (before: string, after: string) =>
  diffTexts(before, after).map(
    (line) =>
      ({ same: " ", gone: "-", new: "+" })[line.kind] +
      line.pieces.map((p) => (p.kind === "same" ? p.text : `[${p.text}]`)).join(""),
  );

describe("what changed between two texts", () => {
  it("shows lines that came, went and stayed", () => {
    expect(said("a\nb\nc", "a\nc\nd")).toEqual([" a", "-[b]", " c", "+[d]"]);
  });

  it("marks the words of a line that was changed", () => {
    expect(said("the loss is high", "the loss is low")).toEqual(["-the loss is [high]", "+the loss is [low]"]);
  });

  it("gives both texts back from the lines", () => {
    const before = "x\ny\nz\nz\nw 1";
    const after = "y\nz\nq\nw 2\nz";
    const lines = diffTexts(before, after);
    const side = (kind: "gone" | "new") =>
      lines
        .filter((l) => l.kind === "same" || l.kind === kind)
        .map((l) => l.pieces.map((p) => p.text).join(""))
        .join("\n");
    expect(side("gone")).toBe(before);
    expect(side("new")).toBe(after);
  });

  it("does not take long over texts that have nothing in common", () => {
    const start = cpuMs();
    const lines = diffTexts(
      Array.from({ length: 20_000 }, (_, i) => `a${i}`).join("\n"),
      Array.from({ length: 20_000 }, (_, i) => `b${i}`).join("\n"),
    );
    expect(lines).toHaveLength(40_000);
    expect(cpuMs() - start).toBeLessThan(3000);
  });
});
