import { expect, test } from "vitest";
import { byWords, groupKeys } from "./compare-by";
import { metricsCsv, metricsLatex, metricsMarkdown } from "./compare-export";
import { partingPaths } from "./compare-parting";
import {
  changeOf,
  changeWords,
  nextOrder,
  OWN_ORDER,
  percentWords,
  pWords,
  shownRows,
  valueWords,
} from "./compare-table";
import { foldSame, wordDiff } from "./compare-words";
import type { MetricRow, Parting, RunColumn } from "./schema";

function row(key: string, value: MetricRow["value"], more: Partial<MetricRow> = {}): MetricRow {
  return {
    key,
    goal: null,
    stat: "last",
    value,
    best: null,
    differs: true,
    std: [],
    n: [],
    odd: [],
    p: [],
    p_holm: [],
    ...more,
  };
}

const accuracy = row("val/acc", [0.5, 0.625], {
  goal: "max",
  best: 0.625,
  std: [0.0022, 0.0013],
  n: [4, 4],
  p: [null, 0.002],
  p_holm: [null, 0.01],
});

test("a change is good or bad by the metric's goal, and neither without one", () => {
  expect(changeOf(accuracy, 1, 0)).toMatchObject({ better: true });
  expect(changeOf(row("loss", [1, 0.5], { goal: "min" }), 1, 0)).toEqual({
    absolute: -0.5,
    relative: -0.5,
    better: true,
  });
  expect(changeOf(row("lr", [1, 2]), 1, 0)?.better).toBeNull();
  expect(changeOf(row("x", [0, 2]), 1, 0)?.relative).toBeNull();
  expect(changeOf(row("x", ["NaN", 2]), 1, 0)).toBeNull();
  expect(changeOf(accuracy, 0, 0)).toBeNull();
});

test("numbers are written with the digits their spread bears", () => {
  expect(valueWords(0.85038, 0.0022)).toBe("0.8504 ± 0.0022");
  expect(valueWords(-12.3456, 3.4)).toBe("−12.3 ± 3.4");
  expect(valueWords(0.5, null)).toBe("0.5");
  expect(valueWords("NaN", null)).toBe("NaN");
  expect(valueWords(2e9, 1e7)).toBe("2G ± 10M");
  expect(changeWords({ absolute: 0.0304, relative: 0.0357, better: true })).toBe("+0.0304 (+3.6%)");
  expect([percentWords(-0.5), percentWords(25), percentWords(0.0001)]).toEqual(["−50%", "×26", "+0%"]);
  expect([pWords(0.0301), pWords(0.5), pWords(1e-9)]).toEqual(["p 0.03", "p 0.5", "p < 0.001"]);
});

test("rows can be searched, cut to what differs, and ordered by the size of a change", () => {
  const rows = [
    row("b/loss", [1, 1.1]),
    row("a/loss", [1, 3]),
    row("same", [1, 1], { differs: false }),
    row("c", [1, null]),
  ];
  const keys = (order = OWN_ORDER, find = "", differs = false) =>
    shownRows(rows, find, differs, order, 0).map((one) => one.key);
  expect(keys()).toEqual(["b/loss", "a/loss", "same", "c"]);
  expect(keys(OWN_ORDER, "LOSS", true)).toEqual(["b/loss", "a/loss"]);
  expect(keys({ by: 1, descending: true })).toEqual(["a/loss", "b/loss", "same", "c"]);
  expect(keys({ by: "name", descending: false })).toEqual(["a/loss", "b/loss", "c", "same"]);
  const once = nextOrder(OWN_ORDER, 1);
  expect([once, nextOrder(once, 1), nextOrder(nextOrder(once, 1), 1)]).toEqual([
    { by: 1, descending: true },
    { by: 1, descending: false },
    OWN_ORDER,
  ]);
});

test("the table leaves as CSV, Markdown and LaTeX, and no name breaks out of its cell", () => {
  const table = { columns: ["base", "=x|y & z"], base: 0, rows: [accuracy], grouped: true };
  expect(metricsCsv(table).split("\r\n")[1]).toBe("val/acc,max,last,0.5,0.0022,4,0.625,0.0013,4,0.125,25,0.002,0.01");
  expect(metricsCsv(table)).toContain("'=x|y & z");
  expect(metricsMarkdown(table)).toBe(
    "| Metric | base (baseline) | =x\\|y & z |\n| --- | ---: | ---: |\n| val/acc ↑ | 0.5000 ± 0.0022 | **0.6250 ± 0.0013 · +0.125 (+25%), p 0.01** |",
  );
  expect(metricsLatex(table)).toContain(
    "val/acc $\\uparrow$ & 0.5000 $\\pm$ 0.0022 & \\textbf{0.6250 $\\pm$ 0.0013} \\\\",
  );
  expect(metricsLatex(table)).toContain("=x|y \\& z");
});

test("only the words that differ are marked", () => {
  expect(wordDiff("a photo of a grey wolf", "a photo of a red fox")).toEqual([
    { text: "a photo of a ", same: true },
    { text: "grey", same: false },
    { text: " ", same: true },
    { text: "wolf", same: false },
  ]);
  expect(wordDiff("/data/b/x", "/data/a/x").filter((piece) => !piece.same)).toEqual([{ text: "b", same: false }]);
  expect(wordDiff("x ".repeat(5000), "y")).toHaveLength(1);
});

test("what is the same far from any difference is folded", () => {
  const lines = Array.from({ length: 20 }, (_, at) => ({ kind: at === 10 ? "differs" : "same" }));
  expect(foldSame(lines).map((one) => [one.kind, one.lines.length])).toEqual([
    ["folded", 7],
    ["lines", 7],
    ["folded", 6],
  ]);
});

test("keys that differ come first, after the run's own group", () => {
  const column = (key: string, distinct: number): RunColumn => ({
    key: `config.${key}`,
    label: key,
    source: "config",
    type: "number",
    distinct,
  });
  const keys = groupKeys([column("same", 1), column("lr", 3)]).map((one) => one.key);
  expect(keys.slice(0, 2)).toEqual(["group", "config.lr"]);
  expect(keys.at(-1)).toBe("config.same");
  expect(byWords(["config.lr", "group", "*", 'config."two words"'])).toBe(
    "lr, the run's group, everything but the seed, two words",
  );
});

test("a curve that runs away leaves the picture instead of pressing the other flat", () => {
  const parting: Parting = {
    key: "loss",
    step: 2,
    a: 1,
    b: 9,
    noise: 0.1,
    noise_from: "steps",
    a_end: 1,
    b_end: 900,
    a_lost: null,
    b_lost: null,
    x: [0, 1, 2, 3],
    a_line: [3, 2, 1, 1],
    b_line: [3, 2, 9, null],
  }; // prettier-ignore
  const { a, b, at } = partingPaths(parting, 100, 50);
  // The calm curve spans 1 to 3 and has as much room again on the side of the wild one.
  expect(a).toBe("M4 25L34.7 35.5L65.3 46L96 46");
  expect(b.startsWith("M4 25L34.7 35.5L65.3 -")).toBe(true);
  expect(at).toBe(65.3);
  expect(partingPaths({ ...parting, x: [0, 1], a_line: [5, 5], b_line: [5, 5], step: null }, 100, 50)).toEqual({
    a: "M4 25L96 25",
    b: "M4 25L96 25",
    at: null,
  });
});
