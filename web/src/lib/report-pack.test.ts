import { describe, expect, it } from "vitest";
import { setSource, call } from "./api";
import { lineFor, type PackedLine } from "./report-lines";
import { canonical, groupLinesOf, mediaOf, type Pack, packSource, readPack, seriesOf } from "./report-pack";
import type { MediaItem } from "./schema";

const line = (more: Partial<PackedLine> = {}): PackedLine => ({
  run: "A",
  key: "loss",
  rank: 0,
  axis: "step",
  value: [4, 3, 2, 1],
  points: 4,
  x0: 0,
  dx: [10, 10, 10],
  relative: [0, 1, 2, 3],
  started: 100,
  last: 1,
  ...more,
});
const item = (step: number, sha: string): MediaItem => ({
  run: "A",
  key: "img",
  step,
  time: 0,
  kind: "image",
  mime: "image/png",
  index: 0,
  count: 1,
  meta: {},
  url: `/api/blob/A/${sha}`,
  text: null,
  histogram: null,
  error: null,
});
const pack = (more: Partial<Pack> = {}): Pack => ({
  format: 1,
  title: "t",
  made: 0,
  stepscope: "0",
  version: 1,
  author: "",
  project: "",
  blocks: [],
  runs: [],
  answers: [],
  lines: [line()],
  media: [],
  blobs: {},
  left_out: [],
  ...more,
});
const ask = (more = {}) => ({ runs: ["A"], keys: ["loss"], ...more });

describe("a packed line", () => {
  it("is itself when there are fewer places than buckets", () => {
    expect(lineFor(line(), ask())).toMatchObject({
      x: [0, 10, 20, 30],
      value: [4, 3, 2, 1],
      low: [4, 3, 2, 1],
      high: [4, 3, 2, 1],
      smooth: null,
      points: 4,
      last: 1,
    });
  });
  it("is cut to a zoomed range with one point beyond each end", () => {
    expect(lineFor(line(), ask({ lo: 9, hi: 21 }))?.x).toEqual([0, 10, 20, 30]);
    expect(lineFor(line(), ask({ lo: 12, hi: 18 }))?.x).toEqual([10, 20]);
  });
  it("keeps the extremes and the places of NaN and infinities when it is thinned", () => {
    const spiky = line({
      value: [1, null, 3, 4],
      low: [0, null, 3, -7],
      high: [1, null, 99, 4],
      nan: [1],
      nan_x: [11],
      inf: [2, -2],
      inf_x: [21, 12],
    });
    expect(lineFor(spiky, ask({ buckets: 2 }))).toMatchObject({
      x: [5, 25],
      value: [1, 3.5],
      low: [0, -7],
      high: [1, 99],
      nan: [0],
      nan_x: [11],
      inf: [1, -1],
      inf_x: [21, 12],
    });
  });
  it("can be drawn over time, and not over a series that the file lacks", () => {
    expect(lineFor(line(), ask({ x: "relative" }))?.x).toEqual([0, 1, 2, 3]);
    expect(lineFor(line(), ask({ x: "wall" }))?.x).toEqual([100, 101, 102, 103]);
    expect(lineFor(line(), ask({ x: "epoch" }))).toBeNull();
    expect(seriesOf(pack(), ask({ x: "epoch" })).missing).toHaveLength(1);
  });
  it("has the smoothing of its author as it was made, and others made here", () => {
    const smooth = line({ smoothed: { "ema:0.6": [9, 8, 7, 6] } });
    expect(lineFor(smooth, ask({ smoothing: { kind: "ema", amount: 0.6 } }))?.smooth).toEqual([9, 8, 7, 6]);
    expect(
      lineFor(smooth, ask({ smoothing: { kind: "ema", amount: 0.5 } }))?.smooth?.map((v) => Number(v?.toFixed(4))),
    ).toEqual([4, 3.3333, 2.5714, 1.7333]);
    expect(lineFor(smooth, ask({ smoothing: { kind: "mean", amount: 3 } }))?.smooth).toEqual([3.5, 3, 2, 1.5]);
  });
});

describe("a file's answers", () => {
  it("fit when they agree in all that the pack names, the most exact first", async () => {
    const answers = [
      { route: "POST /api/model", request: { run: "A" }, answer: "any" },
      { route: "POST /api/model", request: { run: "A", backward: true }, answer: "backward" },
      { route: "POST /api/compare/metrics", request: { runs: ["A", "B"] }, answer: "both" },
    ];
    setSource(packSource(pack({ answers })));
    const at = (route: string, request: object) => call(route as "POST /api/model", request as { run: string });
    expect(await at("POST /api/model", { run: "A", key: null, backward: false })).toBe("any");
    expect(await at("POST /api/model", { run: "A", backward: true, step: 3 })).toBe("backward");
    expect(await at("POST /api/compare/metrics", { runs: ["B", "A"], by: "" })).toBe("both");
    await expect(at("POST /api/model", { run: "B" })).rejects.toThrow("does not contain");
  });
  it("give groups of runs their own names", () => {
    const band = line({ run: "", group: ["A", "B"], low: [3, 2, 1, 0], high: [5, 4, 3, 2] });
    const answer = groupLinesOf(pack({ lines: [line(), band] }), {
      groups: [
        { id: "g1", runs: ["B", "A"] },
        { id: "g2", runs: ["C"] },
      ],
      keys: ["loss"],
    });
    expect(answer.lines.map(({ run, value, low }) => [run, value, low])).toEqual([["g1", [4, 3, 2, 1], [3, 2, 1, 0]]]);
    expect(seriesOf(pack({ lines: [line(), band] }), ask()).lines.map((one) => one.run)).toEqual(["A"]);
  });
  it("give a smoothed group the band of its smoothed lines, and the raw one without smoothing", () => {
    const band = line({
      run: "",
      group: ["A"],
      low: [3, 2, 1, 0],
      high: [5, 4, 3, 2],
      smoothed: { "ema:0.6": [4, 4, 3, 3] },
      bands: {
        "ema:0.6": [
          [3, 3, 2, 2],
          [5, 5, 4, 4],
        ],
      },
    });
    const drawn = (kind: "none" | "ema" | "mean", amount: number) =>
      groupLinesOf(pack({ lines: [band] }), {
        groups: [{ id: "g", runs: ["A"] }],
        keys: ["loss"],
        smoothing: { kind, amount },
      }).lines[0];
    expect(drawn("none", 0)).toMatchObject({ low: [3, 2, 1, 0], high: [5, 4, 3, 2], smooth: null });
    expect(drawn("ema", 0.6)).toMatchObject({
      value: [4, 3, 2, 1],
      low: [3, 3, 2, 2],
      high: [5, 5, 4, 4],
      smooth: [4, 4, 3, 3],
    });
    expect(drawn("mean", 3)).toMatchObject({ low: [2.5, 2, 1, 0.5], high: [4.5, 4, 3, 2.5], smooth: [3.5, 3, 2, 1.5] });
  });
  it("show the newest picture at or before a step, as bytes of the file", () => {
    const media = [{ run: "A", key: "img", steps: [0, 50], items: [item(0, "x"), item(50, "y")] }];
    const held = pack({ media, blobs: { "A/x": "data:image/png;base64,AA", "A/y": "data:image/png;base64,BB" } });
    const at = (step: number | null) =>
      mediaOf(held, { runs: ["A", "B"], key: "img", step }).items.map((one) => one.url);
    expect([at(null), at(49), at(-1)]).toEqual([["data:image/png;base64,BB"], ["data:image/png;base64,AA"], []]);
    expect(mediaOf(pack({ media }), { runs: ["A"], key: "img" }).items[0]?.url).toBeNull();
  });
  it("are looked up whatever the order of names", () => {
    expect(canonical({ b: 1, a: [{ d: null, c: "x" }] })).toBe(canonical({ a: [{ c: "x" }], b: 1, e: undefined }));
  });
  it("travel deflated", async () => {
    const text = JSON.stringify(pack({ title: "Zażółć" }));
    const squeezed = new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate")));
    const base64 = Buffer.from(await squeezed.arrayBuffer()).toString("base64");
    expect((await readPack(base64, "deflate-base64")).title).toBe("Zażółć");
    expect((await readPack(text, "json")).title).toBe("Zażółć");
  });
});
