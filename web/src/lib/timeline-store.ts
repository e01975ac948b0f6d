/**
 * The tiles that were fetched, and which to fetch next. The screen never waits: until a tile is here, a coarser one is
 * drawn in its place; when all of the screen is here, its neighbours and coarser levels are fetched ahead.
 */

import type { Tile } from "./timeline-tile";
import { tilesOf, topLevel } from "./timeline-camera";

export interface TileRequest {
  level: number;
  first: number;
  count: number;
  lanes: number[];
}

export interface StoreOptions {
  /** Pixels of a tile. */
  tile: number;
  /** Nanoseconds from the beginning to the end. */
  span: number;
  /** All lanes there are, in the order of the screen. */
  lanes: readonly number[];
  fetch(request: TileRequest): Promise<Tile[]>;
  /** Something came that was not there. */
  onTiles(): void;
  onFault(fault: unknown): void;
}

export interface Wanted {
  begin: number;
  end: number;
  level: number;
  /** The lanes on the screen. */
  lanes: readonly number[];
}

const AT_ONCE = 3;
const LANES_AT_ONCE = 256;
const TILES_AT_ONCE = 8;
const BLOCK_BYTES = 32;
const COARSER = [2, 5];
const REST_MS = 2000;

interface Kept {
  tile: Tile;
  used: number;
}

export class TileStore {
  private readonly kept = new Map<string, Kept>();
  private readonly asked = new Set<string>();
  private readonly top: number;
  private bytes = 0;
  private now = 0;
  private flights = 0;
  private wanted: Wanted | null = null;
  private closed = false;
  private rest = 0;

  constructor(
    private readonly options: StoreOptions,
    private readonly mostBytes = 192 << 20,
  ) {
    this.top = topLevel(options.span, options.tile);
  }

  /** Nothing that is on the screen is missing. */
  get settled(): boolean {
    return this.wanted !== null && this.requests(this.onScreen(this.wanted)).length === 0 && this.flights === 0;
  }

  /** The tile, or the finest coarser one that holds it; null when there is none yet. */
  best(level: number, index: number, lane: number): { tile: Tile; level: number } | null {
    for (let up = 0; level + up <= Math.max(level, this.top); up++) {
      const found = this.kept.get(key(level + up, Math.floor(index / 2 ** up), lane));
      if (!found) continue;
      found.used = this.now;
      return { tile: found.tile, level: level + up };
    }
    return null;
  }

  /** What the screen shows now. */
  want(wanted: Wanted): void {
    this.now++;
    this.wanted = wanted;
    this.send();
  }

  close(): void {
    this.closed = true;
    this.kept.clear();
  }

  /** The requests for what is missing, the most urgent first. */
  plan(wanted: Wanted): TileRequest[] {
    const { tile, span, lanes } = this.options;
    const [width, middle] = [wanted.end - wanted.begin, wanted.lanes];
    const spans = [
      this.requests({ level: this.top, first: 0, last: 0 }, middle),
      this.requests(tilesOf(wanted.begin, wanted.end, wanted.level, tile, span), middle),
      ...COARSER.map((up) =>
        this.requests(
          tilesOf(wanted.begin - width, wanted.end + width, Math.min(this.top, wanted.level + up), tile, span),
          middle,
        ),
      ),
      this.requests(tilesOf(wanted.begin - width, wanted.end + width, wanted.level, tile, span), middle),
      this.requests({ level: this.top, first: 0, last: 0 }, lanes),
      wanted.level > 0
        ? this.requests(tilesOf(wanted.begin + width / 4, wanted.end - width / 4, wanted.level - 1, tile, span), middle)
        : [],
    ];
    return spans.flat();
  }

  private onScreen(wanted: Wanted) {
    return tilesOf(wanted.begin, wanted.end, wanted.level, this.options.tile, this.options.span);
  }

  /** Neighbouring tiles that lack the same lanes are asked for together. */
  private requests(
    { level, first, last }: { level: number; first: number; last: number },
    lanes: readonly number[] = this.wanted?.lanes ?? [],
  ): TileRequest[] {
    const found: TileRequest[] = [];
    for (let index = first; index <= last; index++) {
      const missing = lanes
        .filter((lane) => !this.kept.has(key(level, index, lane)) && !this.asked.has(key(level, index, lane)))
        .slice(0, LANES_AT_ONCE);
      const before = found[found.length - 1];
      if (missing.length === 0) continue;
      if (
        before &&
        before.first + before.count === index &&
        before.count < TILES_AT_ONCE &&
        same(before.lanes, missing)
      )
        before.count++;
      else found.push({ level, first: index, count: 1, lanes: missing });
    }
    return found;
  }

  private send(): void {
    if (!this.wanted || this.closed || performance.now() < this.rest) return;
    while (this.flights < AT_ONCE) {
      const [request] = this.plan(this.wanted);
      if (!request) return;
      void this.fly(request);
    }
  }

  private async fly(request: TileRequest): Promise<void> {
    const keys = keysOf(request);
    for (const one of keys) this.asked.add(one);
    this.flights++;
    try {
      const tiles = await this.options.fetch(request);
      if (this.closed) return;
      for (const tile of tiles) this.keep(request.level, tile);
      this.drop();
      this.options.onTiles();
    } catch (fault) {
      this.rest = performance.now() + REST_MS; // a server that is gone is not asked sixty times a second
      setTimeout(() => this.send(), REST_MS + 20);
      if (!this.closed) this.options.onFault(fault);
    } finally {
      for (const one of keys) this.asked.delete(one);
      this.flights--;
      this.send();
    }
  }

  private keep(level: number, tile: Tile): void {
    this.kept.set(key(level, tile.index, tile.lane), { tile, used: this.now });
    this.bytes += tile.size * BLOCK_BYTES + 200;
  }

  /** Forgets what was not on the screen for longest; the coarsest level stays. */
  private drop(): void {
    if (this.bytes <= this.mostBytes) return;
    const old = [...this.kept].filter(([id]) => !id.startsWith(`${this.top}/`)).sort((a, b) => a[1].used - b[1].used);
    for (const [id, { tile }] of old) {
      if (this.bytes <= this.mostBytes * 0.75) break;
      this.kept.delete(id);
      this.bytes -= tile.size * BLOCK_BYTES + 200;
    }
  }
}

function key(level: number, index: number, lane: number): string {
  return `${level}/${index}/${lane}`;
}

function keysOf({ level, first, count, lanes }: TileRequest): string[] {
  return Array.from({ length: count }, (_, at) => lanes.map((lane) => key(level, first + at, lane))).flat();
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}
