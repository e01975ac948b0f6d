import { describe, expect, test } from "vitest";
import { packTiles, type PlainBlock } from "./timeline-fixtures";
import { mixed } from "./timeline-inks";
import { fillRows, type Label, type Paint, paintLine, type Picture } from "./timeline-paint";
import { type Tile, unpackTiles } from "./timeline-tile";

const paint: Paint = { inks: Uint32Array.from([11, 22, 33]), byKind: false, lit: null, background: 0, edge: 9 };
const tileOf = (...blocks: PlainBlock[]) => unpackTiles(packTiles([{ lane: 0, index: 0, blocks }]))[0] as Tile;

/** One line of ten pixels in a picture of three rows; each pixel is a nanosecond. */
function painted(tile: Tile, more: Partial<Paint> = {}, place: object = {}, frame = { begin: 0, scale: 1 }) {
  const picture: Picture = { pixels: new Uint32Array(30), width: 10, height: 3 };
  const labels: Label[] = [];
  paintLine(
    picture,
    { tile, depth: 0, top: 1, height: 2, from: 0, to: 10, first: true, ...place },
    frame,
    { ...paint, ...more },
    labels,
    4,
  );
  const row = (y: number) => [...picture.pixels.subarray(y * 10, y * 10 + 10)];
  return { top: row(0), line: row(1), below: row(2), labels };
}

describe("painting", () => {
  test("fills a block's pixels on all its rows, with an edge before it", () => {
    const found = painted(tileOf({ start: 2, dur: 5, name: 1 }));
    expect(found.line).toEqual([0, 0, 9, 22, 22, 22, 22, 0, 0, 0]);
    expect(found.below).toEqual(found.line);
    expect(found.top).toEqual(new Array(10).fill(0));
  });

  test("shows what is narrower than a pixel as one", () => {
    expect(
      painted(tileOf({ start: 3.2, dur: 0.01 }, { start: 3.6, dur: 0.01, name: 1 }, { start: 8, dur: 0, name: 2 }))
        .line,
    ).toEqual([0, 0, 0, 11, 0, 0, 0, 0, 33, 0]);
  });

  test("keeps to its own columns", () => {
    const found = painted(tileOf({ start: -5, dur: 100, name: 1 }), {}, { from: 3, to: 6 });
    expect(found.line).toEqual([0, 0, 0, 22, 22, 22, 0, 0, 0, 0]);
  });

  test("fades what is not looked for, and thins what is merged", () => {
    const lit = Uint8Array.from([1, 0, 0]);
    const [first, second] = painted(tileOf({ start: 0, dur: 1, name: 0 }, { start: 5, dur: 1, name: 1 }), {
      lit,
      inks: Uint32Array.from([0xffffffff, 0xffffffff]),
    }).line.filter(Boolean) as [number, number];
    expect(first).toBe(0xffffffff);
    expect(second & 255).toBeLessThan(80);
    const thin = painted(tileOf({ start: 0, dur: 2, count: 9, busy: 128 }), { inks: Uint32Array.from([0xffffffff]) })
      .line[1] as number;
    expect(thin & 255).toBe(128);
  });

  test("colours by kind", () =>
    expect(painted(tileOf({ start: 0, dur: 2, kind: 2 }), { byKind: true }).line[1]).toBe(33));

  test("gives words to wide blocks, once, from where they are seen", () => {
    const tile = tileOf({ start: -4, dur: 9, name: 2, count: 3 }, { start: 6, dur: 2 });
    expect(painted(tile).labels).toEqual([{ x: 0, y: 1, width: 5, name: 2, count: 3, lit: true }]);
    expect(painted(tile, {}, { first: false }).labels).toEqual([]);
  });

  test("outside the picture costs nothing and breaks nothing", () => {
    expect(painted(tileOf({ start: 0, dur: 5 }), {}, { top: 3 }).line).toEqual(new Array(10).fill(0));
    expect(painted(tileOf({ start: 0, dur: 2 }), {}, { top: -1 }).top).toEqual([11, 11, 0, 0, 0, 0, 0, 0, 0, 0]);
    const picture: Picture = { pixels: new Uint32Array(4), width: 2, height: 2 };
    fillRows(picture, -5, 6, 7);
    fillRows(picture, 2, 9, 8);
    expect([...picture.pixels]).toEqual([7, 7, 0, 0]);
  });

  test("mixes pixels", () => {
    expect(mixed(0xff000000, 0xffffffff, 0)).toBe(0xff000000);
    expect(mixed(0xff000000, 0xffffffff, 255)).toBe(0xffffffff);
  });
});
