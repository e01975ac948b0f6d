/** Two curves as SVG paths in one small picture. A curve that runs away must not press the other flat. */

import type { Parting } from "./schema";

export interface PartingPaths {
  a: string;
  b: string;
  /** Where they part, in pixels. */
  at: number | null;
}

const PAD = 4;

export function partingPaths(parting: Parting, width: number, height: number): PartingPaths {
  const xs = parting.x;
  const first = xs[0] ?? 0;
  const span = (xs[xs.length - 1] ?? 0) - first || 1;
  const x = (value: number) => round(PAD + ((value - first) / span) * (width - 2 * PAD));
  const [low, high] = rangeOf(parting);
  // What is beyond the range leaves the picture, as far as SVG numbers bear.
  const y = (value: number) =>
    round(Math.min(1e5, Math.max(-1e5, height - PAD - ((value - low) / (high - low || 1)) * (height - 2 * PAD))));
  const path = (line: readonly (number | null)[]): string => {
    let down = false;
    let text = "";
    line.forEach((value, index) => {
      if (value === null) down = false;
      else {
        text += `${down ? "L" : "M"}${x(xs[index] ?? 0)} ${y(value)}`;
        down = true;
      }
    });
    return text;
  };
  const at = parting.step === null ? null : Math.min(width - PAD, Math.max(PAD, x(parting.step)));
  return { a: path(parting.a_line), b: path(parting.b_line), at };
}

/** All of the calmer curve, and of the wilder one as much again on either side. */
function rangeOf(parting: Parting): [number, number] {
  const ranges = [parting.a_line, parting.b_line]
    .map((line) => line.filter((value) => value !== null))
    .filter((line) => line.length > 0);
  const ends = ranges.map((line): [number, number] => [Math.min(...line), Math.max(...line)]);
  if (ends.length === 0) return [0, 1];
  const calm = ends.reduce((best, one) => (one[1] - one[0] < best[1] - best[0] ? one : best));
  const room = calm[1] - calm[0] || Math.abs(calm[0]) || 1;
  const low = Math.min(...ends.map((one) => one[0]));
  const high = Math.max(...ends.map((one) => one[1]));
  if (low === high) return [low - 1, high + 1];
  return [Math.max(low, calm[0] - room), Math.min(high, calm[1] + room)];
}

const round = (value: number): number => Math.round(value * 10) / 10;
