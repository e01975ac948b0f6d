import { describe, expect, it } from "vitest";
import { cpuMs } from "./cpu-fixtures";
import { diffCount, diffLines, shortDiff } from "./report-diff";

const signs = (lines: ReturnType<typeof diffLines>) =>
  lines.map((l) => ({ same: " ", out: "-", in: "+", gap: "…" })[l.kind] + (l.kind === "gap" ? l.number : l.text));
/** A diff is right when each text can be read out of it. */
const read = (lines: ReturnType<typeof diffLines>, skip: string) =>
  lines
    .filter((l) => l.kind !== skip)
    .map((l) => l.text)
    .join("\n");

describe("two versions", () => {
  it("keep what both have and mark the rest", () => {
    expect(signs(diffLines("a\nb\nc\nd", "a\nx\nc\nd\ne"))).toEqual([" a", "-b", "+x", " c", " d", "+e"]);
  });
  it("can both be read out of the diff, whatever they are", () => {
    let seed = 7;
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    const text = () =>
      Array.from({ length: Math.floor(random() * 12) }, () => "abcd"[Math.floor(random() * 4)]).join("\n");
    for (let n = 0; n < 300; n++) {
      const [a, b] = [text(), text()];
      const lines = diffLines(a, b);
      expect([read(lines, "in"), read(lines, "out")]).toEqual([a, b]);
    }
  });
  it("leave out what stayed far from any change", () => {
    const old = Array.from({ length: 20 }, (_, i) => `line ${i}`);
    const next = old.with(10, "changed");
    expect(signs(shortDiff(diffLines(old.join("\n"), next.join("\n")), 1))).toEqual([
      "…9",
      " line 9",
      "-line 10",
      "+changed",
      " line 11",
      "…8",
    ]);
    expect(diffCount(diffLines(old.join("\n"), next.join("\n")))).toEqual({ added: 1, removed: 1 });
  });
  it("stay quick for texts that share nothing", () => {
    const started = cpuMs();
    diffLines(
      Array.from({ length: 30_000 }, (_, i) => `a${i}`).join("\n"),
      Array.from({ length: 30_000 }, (_, i) => `b${i}`).join("\n"),
    );
    expect(cpuMs() - started).toBeLessThan(1000);
  });
});
