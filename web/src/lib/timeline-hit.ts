/** What lies under the pointer. */

import { LINE, PAD, type LaneRow } from "./timeline-rows";
import { lastBefore, lineOf, type Tile } from "./timeline-tile";
import type { TileStore } from "./timeline-store";
import { tileWidth } from "./timeline-camera";

export interface Hit {
  row: LaneRow;
  depth: number;
  event: number;
  name: number;
  count: number;
  /** Nanoseconds from the beginning of its own rank's axis. */
  start: number;
  dur: number;
  busy: number;
  kind: number;
}

/** The line of a lane at a height inside its row; -1 between lines. */
export function depthAt(row: LaneRow, y: number): number {
  const depth = Math.floor((y - row.top - PAD) / LINE);
  return depth >= 0 && depth < row.lines ? depth + row.first : -1;
}

/** The block of a line at a time, or one that is at most `slop` nanoseconds away. */
export function hitAt(
  store: TileStore,
  row: LaneRow,
  depth: number,
  time: number,
  level: number,
  tile: number,
  slop: number,
): Hit | null {
  const found = store.best(level, Math.max(0, Math.floor(time / tileWidth(level, tile))), row.lane.id);
  if (!found || depth < 0) return null;
  const at = blockAt(found.tile, depth, time, slop);
  if (at < 0) return null;
  const one = found.tile;
  return {
    row,
    depth,
    event: one.event[at] as number,
    name: one.name[at] as number,
    count: one.count[at] as number,
    start: one.start[at] as number,
    dur: one.dur[at] as number,
    busy: (one.busy[at] as number) / 255,
    kind: one.kind[at] as number,
  };
}

function blockAt(tile: Tile, depth: number, time: number, slop: number): number {
  const [first, end] = lineOf(tile, depth);
  const at = lastBefore(tile, first, end, time + slop);
  for (const one of [at, at - 1]) {
    if (one < first) continue;
    const until = (tile.start[one] as number) + (tile.dur[one] as number);
    if (until + slop >= time) return one;
  }
  return -1;
}
