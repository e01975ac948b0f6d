import { describe, expect, test } from "vitest";
import { addRange, brushWords, countPassing, isBrushes, NO_BRUSH, passing, withBrush } from "./param-brush";
import { ramp } from "./param-ramp";
import { canLog, scaleOf } from "./param-scale";
import { spokenRuns } from "./param-spoken";
import { strength, usualAxes } from "./param-strength";
import { bestSoFar, cellOf, columnOfKey, metricOfKey, ranking, readTable, shades } from "./param-table";
import type { ParameterColumn, Parameters } from "./schema";

const column = (key: string, values: (number | null)[], more: Partial<ParameterColumn> = {}): ParameterColumn => ({
  key,
  label: key,
  source: "config",
  kind: "number",
  log: false,
  values,
  names: [],
  broken: [],
  distinct: values.length,
  ...more,
}); // prettier-ignore

function table(columns: ParameterColumn[], goal: "min" | "max" | null = "min") {
  const size = columns[0]?.values.length ?? 0;
  const each = <T>(make: (at: number) => T) => Array.from({ length: size }, (_, at) => make(at));
  const answer: Parameters = {
    ids: each((at) => `id${at}`),
    names: each((at) => `run ${at}`),
    statuses: each(() => "finished"),
    created: each((at) => at * 10),
    ended: each((at) => (at === 0 ? 1000 : at * 10 + 5)),
    hues: each(() => 0),
    columns,
    metric: "loss",
    stat: "min",
    goal,
    metrics: ["loss"],
    alike: 0,
    unique: [],
    omitted: 0,
    unfinished: 0,
    version: 1,
  }; // prettier-ignore
  return readTable(answer);
}

const loss = column("loss.min", [3, 1, 2, null], { source: "metric", broken: [3] });
const lr = column("config.lr", [0.1, 0.01, null, 0.001], { log: true });
const opt = column("config.opt", [0, 1, 1, 0], { kind: "text", names: ["adam", "sgd"] });

describe("columns", () => {
  const read = table([loss, lr, opt]);
  test("know what is missing and what is broken", () => {
    expect([...(read.metric?.state ?? [])]).toEqual([0, 0, 0, 2]);
    expect([read.metric?.missing, read.metric?.broken, read.byKey.get("config.lr")?.missing]).toEqual([0, 1, 1]);
    const cells = [0, 2, 3].map((run) =>
      [read.metric, read.byKey.get("config.lr"), read.byKey.get("config.opt")].map((one) => one && cellOf(one, run)),
    );
    expect(cells).toEqual([
      [3, 0.1, "adam"],
      [2, null, "sgd"],
      ["NaN", 0.001, "adam"],
    ]); // prettier-ignore
  });
  test("the metric is drawn last", () => expect(usualAxes(read).at(-1)).toBe("loss.min"));
  test("keys of metrics are read back", () => {
    expect([metricOfKey("config.lr"), metricOfKey("val/acc.max"), metricOfKey('"a \\"b\\"".last')]).toEqual([
      null,
      "val/acc",
      'a "b"',
    ]);
    expect(columnOfKey(read, "loss.best")?.key).toBe("loss.min");
    expect(columnOfKey(read, "acc.best")).toBeUndefined();
  });
  test("the best come first, those without a value last", () => {
    expect([...ranking(read.metric as never, "min")]).toEqual([1, 2, 0, 3]);
    expect([...ranking(read.metric as never, "max")]).toEqual([0, 2, 1, 3]);
  });
  test("the best has the last colour, and what is broken none", () => {
    expect([...shades(read.metric, "min", 4)]).toEqual([0, 63, 32, 255]);
    expect([...shades(null, null, 2)]).toEqual([255, 255]);
  });
});

describe("what the metric goes with", () => {
  const size = 60;
  const each = (make: (at: number) => number) => Array.from({ length: size }, (_, at) => make(at));
  const noise = (at: number) => ((at * 7919) % 61) / 61;
  const metric = column(
    "loss.min",
    each((at) => (at / size - 0.5) ** 2 + 0.02 * noise(at)),
    { source: "metric" },
  );
  const read = table([
    metric,
    column(
      "config.middle",
      each((at) => at),
    ),
    column(
      "config.chance",
      each((at) => noise(at + 3)),
    ),
    column(
      "config.few",
      each((at) => at % 3),
    ),
  ]);
  test("stands beside it, also where the best lies in the middle", () =>
    expect(usualAxes(read).slice(-2)).toEqual(["config.middle", "loss.min"]));
  test("is between nothing and all", () => {
    const ranks = Float64Array.from(read.metric?.values ?? []);
    const [middle, chance] = ["config.middle", "config.chance"].map((key) =>
      strength(read.byKey.get(key) as never, ranks),
    );
    expect(middle).toBeGreaterThan(0.7);
    expect(middle).toBeLessThanOrEqual(1);
    expect(chance).toBeLessThan(0.2);
  });
});

describe("brushes", () => {
  const read = table([loss, lr, opt]);
  const kept = (key: string, brush: object) => [...passing(read, { [key]: { ...NO_BRUSH, ...brush } })];
  test("keep ranges, names and rails", () => {
    expect(kept("config.lr", { ranges: [[0.005, 0.02]] })).toEqual([0, 1, 0, 0]);
    expect(kept("config.lr", { ranges: [[0.005, 0.02]], missing: true })).toEqual([0, 1, 1, 0]);
    expect(kept("config.opt", { names: ["adam"] })).toEqual([1, 0, 0, 1]);
    expect(kept("loss.min", { broken: true })).toEqual([0, 0, 0, 1]);
    expect(kept("config.gone", { names: ["x"] })).toEqual([1, 1, 1, 1]);
  });
  test("of several columns all must keep a run", () => {
    const both = {
      "config.opt": { ...NO_BRUSH, names: ["adam"] },
      "config.lr": { ...NO_BRUSH, ranges: [[0.05, 1]] as const },
    };
    expect(countPassing(passing(read, both))).toBe(1);
  });
  test("ranges that touch become one", () => {
    expect(
      addRange(
        [
          [1, 2],
          [5, 6],
        ],
        [4, 1.5],
      ),
    ).toEqual([
      [1, 4],
      [5, 6],
    ]); // prettier-ignore
    expect(withBrush({ a: NO_BRUSH }, "a", NO_BRUSH)).toEqual({});
  });
  test("are said in words, and read from an address with care", () => {
    expect(brushWords({ ranges: [[0.001, 0.1]], names: [], missing: true, broken: false })).toBe(
      "0.001 to 0.1 or not set",
    );
    expect(isBrushes({ a: { ranges: [[1, 2]], names: [], missing: false, broken: true } })).toBe(true);
    for (const bad of [null, [], { a: 1 }, { a: { ranges: [[1]], names: [], missing: false, broken: false } }])
      expect(isBrushes(bad)).toBe(false);
  });
});

describe("scales", () => {
  const read = (values: (number | null)[], more: Partial<ParameterColumn> = {}) =>
    table([column("config.x", values, more)]).columns[0] as never;
  test("go from 0 to 1 and back, linear and log", () => {
    const linear = scaleOf(read([10, 20]), false);
    expect([linear.place(10), linear.place(15), linear.value(1)]).toEqual([0, 0.5, 20]);
    const log = scaleOf(read([1, 10, 100]), true);
    expect([log.place(10), log.value(0.5)]).toEqual([0.5, 10]);
    expect(
      scaleOf(read([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 100]), true)
        .ticks(2)
        .map((tick) => tick.label),
    ).toEqual(["1", "10", "100"]);
  });
  test("few different numbers are their own ticks", () => {
    expect(
      scaleOf(read([32, 64, 256, 64]), true)
        .ticks(6)
        .map((tick) => tick.label),
    ).toEqual(["32", "64", "256"]);
    expect(scaleOf(read([0, 0.1, 0.5]), false).ticks(6)[1]).toEqual({ place: 0.2, label: "0.1" });
  });
  test("zero has a place below a log scale", () => {
    const scale = scaleOf(read([0, 1e-4, 1e-2]), true);
    expect([scale.place(0), scale.value(0.01), scale.value(1)]).toEqual([0.03, 0, 1e-2]);
    expect(scale.place(1e-4)).toBeCloseTo(0.1);
    expect(scale.ticks(4)[0]?.label).toBe("0");
    expect([canLog(read([-1, 1])), canLog(read([0, 0])), canLog(read([1, 2]))]).toEqual([false, false, true]);
  });
  test("one value alone, or none, still has a scale", () => {
    expect(scaleOf(read([5, 5]), false).place(5)).toBe(0.5);
    expect(scaleOf(read([null]), false).ticks(3).length).toBeGreaterThan(0);
  });
  test("names stand in the middle of their share", () => {
    const scale = scaleOf(read([0, 1], { kind: "text", names: ["a", "b"] }), false);
    expect([scale.place(0), scale.place(1), scale.value(0.75)]).toEqual([0.25, 0.75, 1]);
  });
});

test("the best so far, by when runs ended, marks the runs that improved it", () => {
  const read = table([loss, lr, opt]);
  const all = new Uint8Array(4).fill(1);
  const ended = bestSoFar(read, "min", "ended", all);
  expect([[...ended.order], [...ended.best], ended.improved]).toEqual([[1, 2, 0], [1, 1, 1], [0]]); // prettier-ignore
  const started = bestSoFar(read, "min", "created", all);
  expect([[...started.order], [...started.best], started.improved]).toEqual([
    [0, 1, 2],
    [3, 1, 1],
    [0, 1],
  ]); // prettier-ignore
  expect(bestSoFar(read, "max", "created", new Uint8Array(4)).order).toHaveLength(0);
});

test("the colours go from one end to the other in both themes", () => {
  expect([ramp(false)[0], ramp(false)[63]]).toEqual(["rgb(220,201,143)", "rgb(55,31,125)"]);
  expect(ramp(true)).toHaveLength(64);
});

test("runs are told in words, the best first, without those that a brush leaves out", () => {
  const read = table([loss, lr, opt]);
  const columns = [read.columns[0], read.columns[1]].filter((one) => one !== undefined);
  const kept = Uint8Array.from([1, 1, 1, 0]);
  const order = read.metric ? ranking(read.metric, "min") : new Int32Array();
  expect(spokenRuns(read, columns, kept, order)).toEqual({
    caption: "loss.min, config.lr",
    head: ["Run", "loss.min", "config.lr"],
    rows: [
      ["run 1", "1", "0.01"],
      ["run 2", "2", "not set"],
      ["run 0", "3", "0.1"],
    ],
  });
});
