/** The arithmetic of the small charts beside a finding: where lines run, where marks stand, what the axes say. */

import { type Label, planAxes } from "./chart-axes";
import { type Box, projection } from "./chart-project";

export interface PlotInput {
  x: readonly number[];
  y: readonly (number | null)[];
}

export interface Plot {
  /** Where lines are drawn, inside the axes. */
  box: Box;
  /** One path per line, with gaps where values are not finite. */
  paths: string[];
  /** Where values stop being finite, on the lower edge. */
  odd: number[];
  x: readonly Label[];
  y: readonly Label[];
  /** Where the marked place is, if there is one. */
  mark: number | null;
  log: boolean;
}

export interface PlotSize {
  width: number;
  height: number;
}

/** Values over more than this are drawn on a log axis: an explosion would hide all that was before it. */
const LOG_FROM = 500;
/** The width of a letter of a tick label. */
const LETTER_PX = 5.6;

export function plotOf(lines: readonly PlotInput[], size: PlotSize, mark: number | null = null): Plot | null {
  const xs = lines.flatMap(({ x }) => x);
  const ys = lines.flatMap(({ y }) => y).filter((one): one is number => one !== null && Number.isFinite(one));
  if (xs.length === 0 || ys.length === 0) return null;
  const logY = least(ys) > 0 && most(ys) / least(ys) > LOG_FROM;
  const marked = mark === null ? xs : [...xs, mark];
  const axes = { x: widened(least(marked), most(marked)), y: padded(least(ys), most(ys), logY), logX: false, logY };
  const plan = planAxes(axes, size, { wholeX: true }, (label) => label.length * LETTER_PX);
  const at = projection(axes, plan.box);
  const placeX = (value: number) => round(at.x(value));
  const placeY = (value: number) => round(at.y(value));
  const odd = lines.flatMap(({ x, y }) => x.filter((_, at) => (y[at] ?? null) === null).map(placeX));
  return {
    box: plan.box,
    paths: lines.map((line) => pathOf(line, placeX, placeY)),
    odd: apart(odd),
    x: plan.x,
    y: plan.y,
    mark: mark === null ? null : placeX(mark),
    log: logY,
  };
}

const ODD_APART = 9;

/** Marks that would cover each other are one. */
function apart(places: readonly number[]): number[] {
  const found: number[] = [];
  for (const place of [...places].sort((a, b) => a - b))
    if (place - (found[found.length - 1] ?? -Infinity) >= ODD_APART) found.push(place);
  return found;
}

function pathOf({ x, y }: PlotInput, placeX: (value: number) => number, placeY: (value: number) => number): string {
  let path = "";
  let down = false;
  for (const [at, value] of y.entries()) {
    const where = x[at];
    if (value === null || where === undefined || !Number.isFinite(value)) {
      down = false;
      continue;
    }
    path += `${down ? "L" : "M"}${placeX(where)} ${placeY(value)}`;
    down = true;
  }
  return path;
}

function widened(low: number, high: number): [number, number] {
  if (high > low) return [low, high];
  const by = Math.abs(low) * 0.1 || 1;
  return [low - by, high + by];
}

function padded(least: number, most: number, log: boolean): [number, number] {
  const [low, high] = log ? [Math.log10(least), Math.log10(most)] : widened(least, most);
  const by = (high - low) * 0.08;
  return log ? [10 ** (low - by), 10 ** (high + by)] : [low - by, high + by];
}

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b));
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b));
const round = (value: number) => Math.round(value * 10) / 10;

/** How long each bar is, 0 to 1; on a log scale where the values differ by orders of magnitude. */
export function barsOf(values: readonly (number | null)[]): { lengths: number[]; log: boolean } {
  const sizes = values.map((value) => (value === null ? 0 : Math.abs(value)));
  const positive = sizes.filter((size) => size > 0);
  if (positive.length === 0) return { lengths: sizes.map(() => 0), log: false };
  const top = most(positive);
  const low = least(positive);
  if (top / low <= LOG_FROM) return { lengths: sizes.map((size) => size / top), log: false };
  const floor = Math.log10(low) - 0.5;
  const lengths = sizes.map((size) => (size > 0 ? (Math.log10(size) - floor) / (Math.log10(top) - floor) : 0));
  return { lengths, log: true };
}

/** The stretch of steps around a finding that is asked for: enough before it to see what was normal. */
export function stretchAround(step: number | null, last: number): { lo: number; hi: number } | null {
  if (step === null || last < 400) return null;
  const half = Math.max(100, Math.round(last * 0.1));
  return { lo: Math.max(0, step - half), hi: step + half };
}

export interface Drawn {
  names: string[];
  lines: PlotInput[];
}

/** Numbers that belong in one picture: as many of them, and of one size. The rest get a picture each. */
export function together(series: readonly { name: string; values: readonly (number | null)[] }[]): Drawn[] {
  const groups: (Drawn & { top: number })[] = [];
  for (const { name, values } of series) {
    const top = values.reduce((a: number, b) => Math.max(a, Math.abs(b ?? 0)), 0);
    const line = { x: values.map((_, at) => at + 1), y: values };
    const near = groups.find(
      (one) => one.lines[0]?.y.length === values.length && Math.max(one.top, top) <= 50 * Math.min(one.top, top),
    );
    if (near && near.names.length < 3) {
      near.names.push(name);
      near.lines.push(line);
    } else groups.push({ names: [name], lines: [line], top });
  }
  return groups;
}
