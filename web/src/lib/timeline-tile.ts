/** A tile of the timeline: what a lane shows in a stretch of time, unpacked from the server's bytes without a copy. */

const MAGIC = 0x4c545353;

export interface Tile {
  lane: number;
  index: number;
  /** Blocks. They are sorted by depth, and those of a depth by time. */
  size: number;
  start: Float64Array;
  dur: Float32Array;
  /** Of the longest event in the block. */
  name: Uint32Array;
  event: Uint32Array;
  count: Uint32Array;
  depth: Uint16Array;
  /** The share of the block that is covered by events, of 255. */
  busy: Uint8Array;
  kind: Uint8Array;
  /** Of each depth its first block, and at the end `size`. */
  lines: Uint32Array;
}

class BadTiles extends Error {}

/** The tiles of an answer of `/api/timeline/tiles`. */
export function unpackTiles(bytes: ArrayBuffer): Tile[] {
  if (bytes.byteLength < 16) throw new BadTiles("the server's answer is too short");
  const [magic, tiles = 0, blocks = 0] = new Uint32Array(bytes, 0, 3);
  if (magic !== MAGIC) throw new BadTiles("the server's answer is not a timeline");
  let at = 16;
  const take = <T>(
    make: new (buffer: ArrayBuffer, offset: number, length: number) => T,
    width: number,
    length: number,
  ): T => {
    if (at + width * length > bytes.byteLength) throw new BadTiles("the server's answer is cut off");
    const column = new make(bytes, at, length);
    at += width * length;
    return column;
  };
  const heads = take(Uint32Array, 4, tiles * 3);
  at += at % 8;
  const start = take(Float64Array, 8, blocks);
  const dur = take(Float32Array, 4, blocks);
  const [name, event, count] = [
    take(Uint32Array, 4, blocks),
    take(Uint32Array, 4, blocks),
    take(Uint32Array, 4, blocks),
  ];
  const depth = take(Uint16Array, 2, blocks);
  const [busy, kind] = [take(Uint8Array, 1, blocks), take(Uint8Array, 1, blocks)];
  const found: Tile[] = [];
  let from = 0;
  for (let tile = 0; tile < tiles; tile++) {
    const size = heads[tile * 3 + 2] as number;
    const to = from + size;
    const own = depth.subarray(from, to);
    found.push({
      lane: heads[tile * 3] as number,
      index: heads[tile * 3 + 1] as number,
      size,
      start: start.subarray(from, to),
      dur: dur.subarray(from, to),
      name: name.subarray(from, to),
      event: event.subarray(from, to),
      count: count.subarray(from, to),
      depth: own,
      busy: busy.subarray(from, to),
      kind: kind.subarray(from, to),
      lines: linesOf(own),
    });
    from = to;
  }
  if (from !== blocks) throw new BadTiles("the server's answer is inconsistent");
  return found;
}

function linesOf(depth: Uint16Array): Uint32Array {
  const deepest = depth.length > 0 ? (depth[depth.length - 1] as number) : -1;
  const lines = new Uint32Array(deepest + 2);
  let line = 0;
  for (let at = 0; at < depth.length; at++) while (line <= (depth[at] as number)) lines[line++] = at;
  while (line < lines.length) lines[line++] = depth.length;
  return lines;
}

/** The first and the last block (exclusive) of a depth. */
export function lineOf(tile: Tile, depth: number): [number, number] {
  if (depth + 1 >= tile.lines.length) return [0, 0];
  return [tile.lines[depth] as number, tile.lines[depth + 1] as number];
}

/** The last block of a line that begins at or before a time; `from - 1` when there is none. */
export function lastBefore(tile: Tile, from: number, to: number, time: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tile.start[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
