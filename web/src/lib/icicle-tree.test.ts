import { beforeAll, describe, expect, test } from "vitest";
import { loadPatterns } from "./pattern";
import { cpuMs } from "./cpu-fixtures";
import { callersOf } from "./icicle-callers";
import { frameInks } from "./icicle-colour";
import { paintNodes } from "./icicle-paint";
import { findFrames } from "./icicle-search";
import { functionsSheet } from "./icicle-sheet";
import { functionsIn, nodeAt, pathTo, treeOf } from "./icicle-tree";
import type { Stack } from "./schema";

beforeAll(loadPatterns);

/** main calls small (5), big (60: itself 10, walk 50, which calls itself for 20), and does 35 itself. */
const stack: Stack = {
  id: "t",
  title: "T",
  names: ["main", "small", "big", "walk"],
  files: ["/me/train.py", "", "/me/data.py", "/me/data.py"],
  lines: [1, 0, 5, 9],
  parent: [-1, 0, 0, 2, 3],
  name: [0, 1, 2, 3, 3],
  total: [100, 5, 60, 50, 20],
  own: [35, 5, 10, 30, 20],
  calls: [1, 2, 1, 1, 4],
};
const tree = treeOf(stack);
const named = (rows: readonly { name: number }[]) => rows.map((row) => stack.names[row.name]);

describe("a call tree", () => {
  test("is laid out under its callers, the largest first", () => {
    expect(tree.rows.map((row) => [...row])).toEqual([[0], [2, 1], [3], [4]]);
    expect([...tree.depth]).toEqual([0, 1, 1, 2, 3]);
    expect([...tree.from].map((x) => Math.round(x * 100))).toEqual([0, 60, 0, 0, 0]);
    expect([...tree.to].map((x) => Math.round(x * 100))).toEqual([100, 65, 60, 50, 20]);
  });

  test("never lets children leave their caller, whatever the numbers say", () => {
    const odd = treeOf({ ...stack, total: [10, 50, 60, 500, 2000] });
    for (let node = 1; node < 5; node++) {
      const above = odd.parent[node] as number;
      expect(odd.from[node] as number).toBeGreaterThanOrEqual((odd.from[above] as number) - 1e-12);
      expect(odd.to[node] as number).toBeLessThanOrEqual((odd.to[above] as number) + 1e-12);
    }
  });

  test("finds what is under the pointer and the way to it", () => {
    expect([nodeAt(tree, 0, 0.5), nodeAt(tree, 1, 0.62), nodeAt(tree, 1, 0.9), nodeAt(tree, 9, 0.1)]).toEqual([
      0, 1, -1, -1,
    ]);
    expect(pathTo(tree, 4)).toEqual([0, 2, 3, 4]);
  });

  test("sums functions, one that calls itself once", () => {
    const all = functionsIn(tree, -1);
    expect(named(all)).toEqual(["walk", "main", "big", "small"]);
    expect(all[0]).toEqual({ name: 3, own: 50, total: 50, calls: 5 });
    expect(all.reduce((sum, one) => sum + one.own, 0)).toBe(100);
    expect(named(functionsIn(tree, 3))).toEqual(["walk"]);
  });

  test("is a sheet with shares of what is shown", () => {
    const sheet = functionsSheet(tree, functionsIn(tree, 2), 60);
    expect(sheet.rows[0]).toEqual(["walk", 50, 50 / 60, 50, 5, "/me/data.py:9"]);
    expect(functionsSheet(treeOf({ ...stack, calls: [] }), [], 1).columns.map((column) => column.key)).not.toContain(
      "calls",
    );
  });
});

describe("callers", () => {
  test("stand under each function, with its own time", () => {
    const turned = callersOf(tree);
    const roots = [...(turned.rows[0] ?? [])];
    expect(roots.map((node) => [stack.names[turned.name[node] as number], turned.total[node]])).toEqual([
      ["walk", 50],
      ["main", 35],
      ["big", 10],
      ["small", 5],
    ]); // prettier-ignore
    const under = [...(turned.rows[1] ?? [])].filter((node) => turned.parent[node] === roots[0]);
    expect(under.map((node) => [stack.names[turned.name[node] as number], turned.total[node]])).toEqual([
      ["big", 30],
      ["walk", 20],
    ]); // prettier-ignore
    expect(turned.whole).toBe(100);
  });

  test("of one function take all of its time, recursion once", () => {
    const turned = callersOf(tree, 3);
    expect(turned.whole).toBe(50);
    expect([...turned.rows.map((row) => stack.names[turned.name[row[0] as number] as number])]).toEqual([
      "walk",
      "big",
      "main",
    ]);
  });

  test("of a part end at that part", () => {
    const turned = callersOf(tree, null, 2);
    expect(turned.whole).toBe(50);
    expect(turned.rows.length).toBe(2);
  });
});

describe("a picture of it", () => {
  test("paints a row, fades what is not looked for, and gives words to the wide", () => {
    const picture = { pixels: new Uint32Array(20), width: 20, height: 1 };
    const labels: { node: number }[] = [];
    const inks = Uint32Array.from([0xff0000ff, 0xff00ff00, 0xffff0000, 0xff00ffff]);
    paintNodes(
      picture,
      tree,
      1,
      0,
      1,
      { from: 0, to: 1 },
      { inks, lit: Uint8Array.from([0, 1, 0, 0]), background: 0xff000000 },
      labels as never,
      5,
    );
    expect(picture.pixels[0]).toBe(0xff000000);
    expect(picture.pixels[12]).toBe(0xff00ff00);
    expect((picture.pixels[5] as number) >>> 16).toBe(0xff34);
    expect(picture.pixels[15]).toBe(0);
    expect(labels.map((label) => label.node)).toEqual([2]);
  });

  test("of a hundred thousand nodes takes a few milliseconds", () => {
    const size = 100_000;
    const wide = treeOf({
      ...stack,
      parent: [-1, ...new Array<number>(size).fill(0)],
      name: new Array<number>(size + 1).fill(1),
      total: [size, ...new Array<number>(size).fill(1)],
      own: new Array<number>(size + 1).fill(1),
      calls: [],
    });
    const picture = { pixels: new Uint32Array(1400), width: 1400, height: 1 };
    const began = cpuMs();
    for (let turn = 0; turn < 10; turn++)
      paintNodes(
        picture,
        wide,
        1,
        0,
        1,
        { from: 0, to: 1 },
        { inks: Uint32Array.from([1, 2, 3, 4]), lit: null, background: 0 },
        [],
        30,
      );
    expect((cpuMs() - began) / 10).toBeLessThan(50);
    expect(picture.pixels.every((one) => one === 2)).toBe(true);
  });

  test("gives the user's own code a colour of its own", () => {
    const inks = frameInks(stack, ["your code", "built in", "torch", "torch"], "package", false);
    expect(new Set([inks[0], inks[1], inks[2]]).size).toBe(3);
  });
});

test("a search says how much of the time is in what it finds, counted once", () => {
  expect(findFrames(tree, "walk")).toMatchObject({ names: 1, total: 50, error: null });
  expect(findFrames(tree, "data.py")).toMatchObject({ names: 2, total: 60 });
  expect(findFrames(tree, "")).toBeNull();
  expect(findFrames(tree, "/(/")?.error).toBeTruthy();
});
