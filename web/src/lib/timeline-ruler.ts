/** The marks of the time axis: round numbers, and beside a far beginning only what is added to it. */

import { niceStep } from "./chart-ticks";
import { formatNs } from "./profile-format";

export interface RulerTick {
  at: number;
  label: string;
}

export interface Ruler {
  ticks: RulerTick[];
  /** What the labels count from, in words; "" when that is the beginning of the axis. */
  from: string;
}

/** Beyond this many steps from zero, labels would differ only in their last digits. */
const FAR = 2_000;

/** About `count` marks between two times. */
export function rulerTicks(begin: number, end: number, count: number): Ruler {
  const step = niceStep(end - begin, count);
  const far = Math.max(Math.abs(begin), Math.abs(end)) / step > FAR;
  const zero = far ? Math.floor(begin / (step * 10)) * step * 10 : 0;
  const ticks: RulerTick[] = [];
  for (let n = Math.ceil((begin - zero) / step - 1e-9); zero + n * step <= end && ticks.length < 200; n++)
    ticks.push({ at: zero + n * step, label: n === 0 && far ? "" : `${far ? "+" : ""}${tickWords(n * step, step)}` });
  return { ticks, from: far ? preciseNs(zero) : "" };
}

function tickWords(ns: number, step: number): string {
  if (ns === 0) return "0";
  const [scale, unit] = unitOf(Math.abs(ns));
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / scale) - 1e-9)));
  return `${(ns / scale).toFixed(digits).replace("-", "−")} ${unit}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
]; // prettier-ignore

function unitOf(ns: number): readonly [number, string] {
  return UNITS.find(([size]) => ns >= size * 0.9999) ?? [1, "ns"];
}

/** A time to the nanosecond, as far as that is worth reading: `12.345 678 ms`. */
export function preciseNs(ns: number): string {
  const whole = Math.round(ns);
  if (Math.abs(whole) < 1e4) return formatNs(whole);
  const [scale, unit] = unitOf(Math.abs(whole));
  const digits = Math.min(9, Math.round(Math.log10(scale)));
  const [left, right = ""] = (whole / scale).toFixed(digits).split(".") as [string, string?];
  const groups = right.replace(/0+$/, "").replace(/(\d{3})(?=\d)/g, "$1\u202f");
  return `${left.replace("-", "−")}${groups ? `.${groups}` : ""} ${unit}`;
}
