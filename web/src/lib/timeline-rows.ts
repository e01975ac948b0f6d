/** How lanes stand below each other: groups with a head, lanes with a line for each depth, open or closed. */

import type { LaneGroup, Lane } from "./schema";

export const HEAD = 26;
export const LINE = 18;
/** Above and below the lines of a lane. */
export const PAD = 3;

export interface Source {
  rank: number;
  lanes: readonly Lane[];
  groups: readonly LaneGroup[];
}

export interface HeadRow {
  kind: "head";
  id: string;
  source: number;
  group: number;
  top: number;
  height: number;
  open: boolean;
  lanes: number;
}

export interface LaneRow {
  kind: "lane";
  id: string;
  source: number;
  lane: Lane;
  top: number;
  height: number;
  open: boolean;
  /** Lines that are drawn, and the first of them: a closed lane shows its outermost events, not the marks over them. */
  lines: number;
  first: number;
}

export type Row = HeadRow | LaneRow;

export const groupId = (rank: number, group: number): string => `${rank}.g${group}`;
export const laneId = (rank: number, lane: number): string => `${rank}.${lane}`;

/** All rows from the top; `closed` holds the ids of groups and lanes that are closed. */
export function layRows(sources: readonly Source[], closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  let top = 0;
  sources.forEach((source, at) => {
    let group = -1;
    const sizes = new Map<number, number>();
    for (const lane of source.lanes) sizes.set(lane.group, (sizes.get(lane.group) ?? 0) + 1);
    for (const lane of source.lanes) {
      if (lane.group !== group) {
        group = lane.group;
        const id = groupId(source.rank, group);
        rows.push({
          kind: "head",
          id,
          source: at,
          group,
          top,
          height: HEAD,
          open: !closed.has(id),
          lanes: sizes.get(group) ?? 0,
        });
        top += HEAD;
      }
      if (closed.has(groupId(source.rank, group))) continue;
      const id = laneId(source.rank, lane.id);
      const open = !closed.has(id);
      const lines = open ? lane.depths : 1;
      rows.push({
        kind: "lane",
        id,
        source: at,
        lane,
        top,
        height: lines * LINE + 2 * PAD,
        open,
        lines,
        first: open ? 0 : lane.outer,
      });
      top += lines * LINE + 2 * PAD;
    }
  });
  return rows;
}

export function heightOf(rows: readonly Row[]): number {
  const last = rows[rows.length - 1];
  return last ? last.top + last.height : 0;
}

/** The rows that meet a stretch of the height. */
export function rowsIn(rows: readonly Row[], top: number, bottom: number): Row[] {
  const found: Row[] = [];
  for (let at = rowAt(rows, top); at < rows.length; at++) {
    const row = rows[at] as Row;
    if (row.top >= bottom) break;
    found.push(row);
  }
  return found;
}

/** The index of the row at a height; the first or last one outside. */
export function rowAt(rows: readonly Row[], y: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((rows[middle] as Row).top <= y) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** What is closed at first: the profiler's own marks, threads that only wait, and deep lanes where there are many. */
export function closedAtFirst(sources: readonly Source[]): Set<string> {
  const closed = new Set<string>();
  const lanes = sources.reduce((sum, source) => sum + source.lanes.length, 0);
  for (const source of sources) {
    source.groups.forEach((group, at) => group.kind === "profiler" && closed.add(groupId(source.rank, at)));
    for (const lane of source.lanes)
      if (lane.quiet || (lanes > 60 && lane.depths > 3)) closed.add(laneId(source.rank, lane.id));
  }
  return closed;
}
