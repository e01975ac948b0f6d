import { describe, expect, test } from "vitest";
import { packTiles } from "./timeline-fixtures";
import { lastBefore, lineOf, type Tile, unpackTiles } from "./timeline-tile";

const tiles = [
  {
    lane: 4,
    index: 2,
    blocks: [
      { start: 5, dur: 10, name: 3, event: 9 },
      { start: 20, dur: 1.5, count: 7, busy: 128 },
      { start: 6, dur: 2, depth: 2, kind: 3 },
    ],
  },
  { lane: 5, index: 2, blocks: [] },
  { lane: 6, index: 3, blocks: [{ start: 2 ** 52 + 1, dur: 1 }] },
];

describe("tiles", () => {
  test("are read from the server's bytes", () => {
    const [first, second, third] = unpackTiles(packTiles(tiles)) as [Tile, Tile, Tile];
    expect([first.lane, first.index, first.size]).toEqual([4, 2, 3]);
    expect([...first.start]).toEqual([5, 20, 6]);
    expect([...first.dur]).toEqual([10, 1.5, 2]);
    expect([[...first.name], [...first.event], [...first.count]]).toEqual([
      [3, 0, 0],
      [9, 0, 0],
      [1, 7, 1],
    ]); // prettier-ignore
    expect([[...first.busy], [...first.kind], [...first.depth]]).toEqual([
      [255, 128, 255],
      [1, 1, 3],
      [0, 0, 2],
    ]); // prettier-ignore
    expect(second.size).toBe(0);
    expect(third.start[0]).toBe(2 ** 52 + 1);
  });

  test("know the blocks of each depth, empty depths too", () => {
    const [first, second] = unpackTiles(packTiles(tiles)) as [Tile, Tile];
    expect([0, 1, 2, 3].map((depth) => lineOf(first, depth))).toEqual([
      [0, 2],
      [2, 2],
      [2, 3],
      [0, 0],
    ]); // prettier-ignore
    expect(lineOf(second, 0)).toEqual([0, 0]);
  });

  test("find the last block before a time", () => {
    const [first] = unpackTiles(packTiles(tiles)) as [Tile];
    expect([4, 5, 19, 20, 99].map((time) => lastBefore(first, 0, 2, time))).toEqual([-1, 0, 0, 1, 1]);
  });

  test("that are cut off or something else are refused", () => {
    const whole = packTiles(tiles);
    expect(() => unpackTiles(whole.slice(0, 8))).toThrow("too short");
    expect(() => unpackTiles(whole.slice(0, whole.byteLength - 1))).toThrow("cut off");
    const other = whole.slice(0);
    new Uint32Array(other, 0, 1)[0] = 7;
    expect(() => unpackTiles(other)).toThrow("not a timeline");
    const odd = whole.slice(0);
    new Uint32Array(odd, 24, 1)[0] = 1;
    expect(() => unpackTiles(odd)).toThrow("inconsistent");
  });
});
