/** From a parameter's value to its place on an axis, 0 to 1, and back; with the ticks that fit. */

import { padded } from "./chart-range";
import { formatNumber, visibleText } from "./format";
import { upright } from "./chart-axes";
import { tickLabels, ticks } from "./chart-ticks";
import type { ParamColumn } from "./param-table";

export interface Tick {
  place: number;
  label: string;
}

export interface ParamScale {
  log: boolean;
  /** The place of a value; NaN where it has none. Names get the middle of their share of the axis. */
  place(value: number): number;
  /** The value at a place; for names the index, not rounded. */
  value(place: number): number;
  ticks(count: number): Tick[];
}

/** Zero has a place of its own below a log scale. */
const ZERO = 0.03;
const ABOVE_ZERO = 0.1;

export function canLog(column: ParamColumn): boolean {
  return column.kind === "number" && column.low >= 0 && column.positive < column.high;
}

export function scaleOf(column: ParamColumn, wantsLog: boolean): ParamScale {
  if (column.kind !== "number") return namesScale(column);
  if (wantsLog && canLog(column)) return logScale(column);
  return linearScale(column);
}

function namesScale(column: ParamColumn): ParamScale {
  const size = Math.max(1, column.names.length);
  return {
    log: false,
    place: (value) => (value + 0.5) / size,
    value: (place) => place * size - 0.5,
    ticks: (count) => {
      const every = Math.max(1, Math.ceil(size / Math.max(1, count)));
      return column.names
        .map((name, at) => ({ place: (at + 0.5) / size, label: visibleText(name) }))
        .filter((_, at) => at % every === 0);
    },
  };
}

const FEW = 12;

/** The column's own values as ticks, where they are few and fit. */
function ownTicks(column: ParamColumn, count: number, place: (value: number) => number): Tick[] | null {
  if (column.distinct > FEW) return null;
  const own = [...new Set(column.values)].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const crowded = own.some(
    (value, at) => at > 0 && place(value) - place(own[at - 1] as number) < 0.5 / Math.max(1, count),
  );
  return own.length === 0 || own.length > count || crowded
    ? null
    : own.map((value) => ({ place: place(value), label: formatNumber(value, 3) }));
}

function linearScale(column: ParamColumn): ParamScale {
  const [low, high] = Number.isNaN(column.low)
    ? [0, 1]
    : column.low < column.high
      ? [column.low, column.high]
      : padded([column.low, column.high], false);
  const place = (value: number): number => (value - low) / (high - low);
  return {
    log: false,
    place,
    value: (at) => low + at * (high - low),
    ticks: (count) => {
      const own = ownTicks(column, count, place);
      if (own) return own;
      const at = ticks(low, high, count);
      const labels = tickLabels(at);
      return at.map((value, index) => ({ place: place(value), label: labels[index] ?? "" }));
    },
  };
}

function logScale(column: ParamColumn): ParamScale {
  const floor = column.low === 0 ? ABOVE_ZERO : 0;
  const low = Math.log10(column.positive);
  const high = Math.log10(column.high);
  const place = (value: number): number =>
    value > 0 ? floor + ((1 - floor) * (Math.log10(value) - low)) / (high - low) : value === 0 ? ZERO : Number.NaN;
  return {
    log: true,
    place,
    value: (at) =>
      floor > 0 && at < (ZERO + ABOVE_ZERO) / 2
        ? 0
        : 10 ** (low + ((high - low) * (Math.max(floor, at) - floor)) / (1 - floor)),
    ticks: (count) => {
      const own = ownTicks(column, count, place);
      if (own) return own;
      const at = ticks(column.positive, column.high, count, "log");
      const labels = tickLabels(at, column.high / column.positive < 6 ? "number" : "log");
      const found = at.map((value, index) => ({ place: place(value), label: labels[index] ?? "" }));
      return floor > 0 ? [{ place: ZERO, label: "0" }, ...found] : found;
    },
  };
}

/** Labels of an upright axis that are nearer than this touch. */
const LABEL_PX = 13;

/** The ticks of an upright axis of this height; of two whose labels would touch the upper one goes. */
export function uprightTicks(scale: ParamScale, height: number): Tick[] {
  const kept: Tick[] = [];
  for (const tick of [...upright(height, scale.ticks)].sort((a, b) => a.place - b.place)) {
    const below = kept[kept.length - 1];
    if (!below || (tick.place - below.place) * height >= LABEL_PX) kept.push(tick);
  }
  return kept;
}
