/**
 * Where the signs of what is not finite stand: crosses for NaN, triangles for infinities, in lanes, so that none covers
 * another.
 */

import type { PlotLine, Projection, Range } from "./chart-line";
import type { Box } from "./chart-project";

export interface OddSign {
  kind: "nan" | "posInf" | "negInf";
  /** Index of its line. */
  line: number;
  x: number;
  /** The middle of the sign. */
  y: number;
}

/** A sign is 7 pixels wide; nearer ones would run into one bar. */
const APART_PX = 10;
const LANE_PX = 9;
const MOST_LANES = 3;

/**
 * +Inf hangs from the ceiling; −Inf stands on the floor, and NaN on top of it. Several runs share a lane where they
 * have room in it.
 */
export function oddSigns(lines: readonly PlotLine[], at: Projection, box: Box, window: Range): OddSign[] {
  const floor = box.top + box.height;
  const up = (lane: number): number => floor - 4 - lane * LANE_PX;
  const above = inLanes(lines, "posInf", at, window, (lane) => box.top + 4 + lane * LANE_PX);
  const below = inLanes(lines, "negInf", at, window, up);
  const used =
    below.length === 0 ? 0 : Math.max(...below.map((sign) => Math.round((floor - 4 - sign.y) / LANE_PX))) + 1;
  return [...above, ...below, ...inLanes(lines, "nan", at, window, (lane) => up(used + lane))];
}

function inLanes(
  lines: readonly PlotLine[],
  kind: OddSign["kind"],
  at: Projection,
  window: Range,
  yOf: (lane: number) => number,
): OddSign[] {
  const lanes: number[][] = [];
  const signs: OddSign[] = [];
  lines.forEach((line, index) => {
    for (const i of line[kind]) {
      const value = line.x[i] as number;
      const x = at.x(value);
      if (value < window[0] || value > window[1] || !Number.isFinite(x)) continue;
      // A run's own signs that lie close are one sign.
      const near = signs.findLast((sign) => sign.line === index);
      if (near && x - near.x < APART_PX) continue;
      let lane = lanes.findIndex((taken) => taken.every((other) => Math.abs(other - x) >= APART_PX));
      if (lane < 0) lane = lanes.length;
      if (lane >= MOST_LANES) continue;
      (lanes[lane] ??= []).push(x);
      signs.push({ kind, line: index, x, y: yOf(lane) });
    }
  });
  return signs;
}
