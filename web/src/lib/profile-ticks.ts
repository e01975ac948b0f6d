/** Ticks of an axis that has a unit: round numbers of the unit one reads there, not of the one it is kept in. */

import { ticks } from "./chart-ticks";
import { formatNumber } from "./format";
import type { Unit } from "./schema";

export interface Tick {
  at: number;
  label: string;
}

const SCALES: Partial<Record<Unit, readonly (readonly [number, string])[]>> = {
  ns: [
    [60e9, "min"],
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ],
  bytes: [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
    [1, "B"],
  ],
  share: [[0.01, "%"]],
  flops: [
    [1e15, "PFLOP"],
    [1e12, "TFLOP"],
    [1e9, "GFLOP"],
    [1e6, "MFLOP"],
    [1, "FLOP"],
  ],
}; // prettier-ignore

/** At most about `count` ticks in [lo, hi]; all in one unit, chosen by the end of the axis. */
export function unitTicks(lo: number, hi: number, count: number, unit: Unit = "number"): Tick[] {
  const scales = SCALES[unit];
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  const [scale, name] = scales?.find(([one]) => size >= one * (unit === "ns" && one === 60e9 ? 3 : 1)) ??
    scales?.[scales.length - 1] ?? [1, ""];
  return ticks(lo / scale, hi / scale, count).map((at) => ({
    at: at * scale,
    label: `${formatNumber(at)}${at !== 0 && name ? ` ${name}` : ""}`,
  }));
}
