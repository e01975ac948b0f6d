import { describe, expect, it } from "vitest";
import { readFigure } from "./chart-figure";
import { compareCells, readConfusion, readCurves, readTable } from "./chart-payload";
import { principalPlane } from "./chart-pca";

describe("payloads from files", () => {
  it("are read, or refused without a throw", () => {
    expect(readTable('{"columns":["a"],"rows":[[1],"bad",[2]]}')).toEqual({ columns: ["a"], rows: [[1], [2]] });
    expect(readConfusion('{"counts":[[1,2],[3,4]],"labels":["x"]}')).toEqual({
      labels: ["x", "1"],
      counts: [
        [1, 2],
        [3, 4],
      ],
    });
    for (const bad of [null, "", "{", "[]", '{"counts":[[1],[2]]}', '{"columns":1}']) {
      expect([readTable(bad), readConfusion(bad), readCurves(bad, {})]).toEqual([null, null, []]);
    }
  });
  it("hold one curve, or one per class, with their areas", () => {
    const text = '{"curves":[{"label":"cat","x":[0,1],"y":[0,1]},{"label":"empty","x":[],"y":[]}]}';
    expect(readCurves(text, { area: [0.75, null] })).toEqual([{ label: "cat", x: [0, 1], y: [0, 1], area: 0.75 }]);
    expect(readCurves('{"x":[0,1],"y":[1,0]}', { labels: ["one"], area: 0.5 })).toMatchObject([
      { label: "one", area: 0.5 },
    ]);
  });
});

it("sorts cells as people expect: numbers, words, nothing", () => {
  expect([null, "b10", 3, "b9", -1].sort(compareCells)).toEqual([-1, 3, "b9", "b10", null]);
});

describe("plotly figures", () => {
  it("give their lines, bars and heat maps, and name what is not drawn", () => {
    const figure = readFigure(
      JSON.stringify({
        data: [
          { y: [1, 2] },
          { type: "bar", x: ["a", "b"], y: [1, 2] },
          { type: "heatmap", z: [[1, null]] },
          { type: "violin" },
        ],
        layout: { title: { text: "T" } },
      }),
    );
    expect(figure).toMatchObject({
      title: "T",
      xy: [
        { kind: "line", x: [0, 1] },
        { kind: "bar", labels: ["a", "b"] },
      ],
      matrix: { values: [[1, null]] },
      undrawn: ["violin"],
    });
  });
  it("understand plotly's binary arrays, and survive broken ones", () => {
    const bdata = btoa(String.fromCharCode(...new Uint8Array(Float64Array.of(1, 2.5).buffer)));
    expect(readFigure(JSON.stringify({ data: [{ y: { dtype: "f8", bdata } }] }))?.xy[0]?.y).toEqual([1, 2.5]);
    expect(readFigure('{"data":[{"y":{"dtype":"f8","bdata":"!"}}]}')?.xy[0]?.y).toEqual([]);
    expect([readFigure("{"), readFigure("[]"), readFigure('{"data":1}')]).toEqual([null, null, null]);
  });
  it("take no colour that is more than a colour", () => {
    const colour = (c: string) => readFigure(JSON.stringify({ data: [{ y: [1], line: { color: c } }] }))?.xy[0]?.colour;
    expect([
      colour("#ff0000"),
      colour("rgb(1, 2, 3)"),
      colour("url(http://x)"),
      colour("red;background:url(x)"),
    ]).toEqual(["#ff0000", "rgb(1, 2, 3)", null, null]);
  });
});

describe("the principal plane", () => {
  it("finds the directions of largest spread", () => {
    const rows = Float32Array.from(
      [
        [-10, 0, 0],
        [10, 0, 0],
        [0, -2, 0],
        [0, 2, 0],
      ].flat(),
    );
    const { x, y, explained } = principalPlane(rows, 3);
    expect(Math.abs(x[0] as number)).toBeCloseTo(10, 3);
    expect(Math.abs(y[2] as number)).toBeCloseTo(2, 3);
    expect(explained).toBeCloseTo(1, 5);
  });
  it("survives constant, empty and non-finite rows", () => {
    expect(principalPlane(new Float32Array(6), 3).explained).toBe(0);
    expect(principalPlane(new Float32Array(0), 3).x.length).toBe(0);
    expect([...principalPlane(Float32Array.of(Number.NaN, 1, 2, 3), 2).x].every(Number.isFinite)).toBe(true);
  });
});
