import { describe, expect, test } from "vitest";
import { packTiles } from "./timeline-fixtures";
import { type TileRequest, TileStore, type Wanted } from "./timeline-store";
import { type Tile, unpackTiles } from "./timeline-tile";

const TILE = 1024;
const SPAN = 1024 * 1024 - 1;

/** A server that answers when it is told to. */
function served(lanes: number[] = [0, 1], mostBytes?: number, blocks = 1) {
  const asked: TileRequest[] = [];
  const waiting: (() => void)[] = [];
  const faults: unknown[] = [];
  let arrived = 0;
  const answer = (request: TileRequest): Tile[] =>
    unpackTiles(
      packTiles(
        Array.from({ length: request.count }, (_, at) =>
          request.lanes.map((lane) => ({
            lane,
            index: request.first + at,
            blocks: Array.from({ length: blocks }, () => ({ start: 0, dur: 1 })),
          })),
        ).flat(),
      ),
    );
  const store = new TileStore(
    {
      tile: TILE,
      span: SPAN,
      lanes,
      fetch: (request) => {
        asked.push(request);
        return new Promise((done, fail) =>
          waiting.push(() => (request.level === 99 ? fail(new Error("gone")) : done(answer(request)))),
        );
      },
      onTiles: () => arrived++,
      onFault: (fault) => faults.push(fault),
    },
    mostBytes,
  );
  const drain = async () => {
    for (let turn = 0; turn < 200 && waiting.length > 0; turn++) {
      waiting.shift()?.();
      await new Promise((done) => setTimeout(done, 0));
    }
  };
  return { store, asked, drain, faults, count: () => arrived };
}

const wanted = (begin: number, end: number, level: number, lanes = [0, 1]): Wanted => ({ begin, end, level, lanes });

describe("the store of tiles", () => {
  test("asks for the coarsest level first, then for the screen, and neighbours together", async () => {
    const { store, asked } = served();
    store.want(wanted(0, 3000, 0));
    expect(asked[0]).toEqual({ level: 10, first: 0, count: 1, lanes: [0, 1] });
    expect(asked[1]).toEqual({ level: 0, first: 0, count: 3, lanes: [0, 1] });
    expect(asked.length).toBe(3);
  });

  test("gives a coarser tile until the fine one is here", async () => {
    const { store, drain } = served();
    expect(store.best(0, 5, 0)).toBeNull();
    store.want(wanted(0, 500, 0));
    await drain();
    expect(store.best(0, 0, 0)?.level).toBe(0);
    expect(store.best(0, 900, 1)?.level).toBe(10);
    expect(store.settled).toBe(true);
  });

  test("fetches the neighbours ahead, and nothing twice", async () => {
    const { store, asked, drain } = served();
    store.want(wanted(10 * TILE, 11 * TILE - 1, 0));
    await drain();
    const fine = asked
      .filter((one) => one.level === 0)
      .flatMap((one) => Array.from({ length: one.count }, (_, at) => one.first + at));
    expect([...fine].sort((a, b) => a - b)).toEqual([9, 10, 11]);
    const before = asked.length;
    store.want(wanted(10 * TILE, 11 * TILE - 1, 0));
    await drain();
    expect(asked.length).toBe(before);
  });

  test("asks only for lanes that it lacks", async () => {
    const { store, asked, drain } = served([0, 1, 2]);
    store.want(wanted(0, 500, 3, [0]));
    await drain();
    asked.length = 0;
    store.want(wanted(0, 500, 3, [0, 2]));
    await drain();
    expect(asked.filter((one) => one.level === 3)[0]?.lanes).toEqual([2]);
  });

  test("forgets what was not looked at for longest, never the coarsest level", async () => {
    const { store, drain } = served([0], 60_000, 100);
    for (let at = 0; at < 30; at++) {
      store.want(wanted(at * 20 * TILE, at * 20 * TILE + 100, 0, [0]));
      await drain();
    }
    expect(store.best(0, 0, 0)?.level).toBeGreaterThan(0);
    expect(store.best(0, 580, 0)?.level).toBe(0);
    expect(store.best(10, 0, 0)?.level).toBe(10);
  });

  test("tells of a server that is gone and rests", async () => {
    const { store, asked, drain, faults } = served();
    store.want(wanted(0, 1e5, 99));
    await drain();
    expect(faults.length).toBeGreaterThan(0);
    const before = asked.length;
    store.want(wanted(0, 1e5, 99));
    expect(asked.length).toBe(before);
    store.close();
  });

  test("keeps nothing after it was closed", async () => {
    const { store, drain, count } = served();
    store.want(wanted(0, 500, 0));
    store.close();
    await drain();
    expect([store.best(0, 0, 0), count()]).toEqual([null, 0]);
  });
});
