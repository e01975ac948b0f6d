/** Tiles packed as the server packs them, for tests. */

export interface PlainBlock {
  start: number;
  dur: number;
  name?: number;
  event?: number;
  count?: number;
  depth?: number;
  busy?: number;
  kind?: number;
}

export interface PlainTile {
  lane: number;
  index: number;
  blocks: PlainBlock[];
}

/** The bytes of `/api/timeline/tiles`; `profile/timeline/tiles.py` describes them. */
export function packTiles(tiles: readonly PlainTile[]): ArrayBuffer {
  const blocks = tiles.flatMap((tile) => tile.blocks);
  const heads = 16 + 12 * tiles.length;
  const from = heads + (heads % 8);
  const bytes = new ArrayBuffer(from + blocks.length * 28);
  new Uint32Array(bytes, 0, 4).set([0x4c545353, tiles.length, blocks.length, 0]);
  new Uint32Array(bytes, 16, 3 * tiles.length).set(
    tiles.flatMap((tile) => [tile.lane, tile.index, tile.blocks.length]),
  );
  let at = from;
  const put = (column: { set(values: number[]): void; byteLength: number }, values: number[]) => {
    column.set(values);
    at += column.byteLength;
  };
  const n = blocks.length;
  put(
    new Float64Array(bytes, at, n),
    blocks.map((block) => block.start),
  );
  put(
    new Float32Array(bytes, at, n),
    blocks.map((block) => block.dur),
  );
  put(
    new Uint32Array(bytes, at, n),
    blocks.map((block) => block.name ?? 0),
  );
  put(
    new Uint32Array(bytes, at, n),
    blocks.map((block) => block.event ?? 0),
  );
  put(
    new Uint32Array(bytes, at, n),
    blocks.map((block) => block.count ?? 1),
  );
  put(
    new Uint16Array(bytes, at, n),
    blocks.map((block) => block.depth ?? 0),
  );
  put(
    new Uint8Array(bytes, at, n),
    blocks.map((block) => block.busy ?? 255),
  );
  put(
    new Uint8Array(bytes, at, n),
    blocks.map((block) => block.kind ?? 1),
  );
  return bytes;
}
