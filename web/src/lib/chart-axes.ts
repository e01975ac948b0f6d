/**
 * Where a chart's drawing area lies and which labels its axes carry: planned from the width of the labels, so that none
 * is cut or touches another.
 */

import type { Range } from "./chart-line";
import { type Axes, type Box, projection } from "./chart-project";
import { type AxisKind, type Ticks, endLabels, tickLabels, ticks } from "./chart-ticks";

/** The width of a label in pixels, in the font of the axes. */
export type Measure = (label: string) => number;

export interface Label {
  /** The value it stands for. */
  at: number;
  px: number;
  text: string;
}

export interface AxesPlan {
  box: Box;
  x: readonly Label[];
  y: readonly Label[];
  /** The labels of the second axis, at the right. */
  right: readonly Label[];
  /** What x is, written below its labels; "" where there is no room for it. */
  xName: string;
}

export interface AxesOptions {
  xKind?: AxisKind;
  yKind?: AxisKind;
  xName?: string;
  /** Words under x = 0, 1, 2 … instead of numbers. */
  names?: readonly string[] | null;
  /** Only whole numbers have a meaning there. */
  wholeX?: boolean;
  wholeY?: boolean;
  /** No number is drawn there, only signs for NaN and ∞: labels would be invented. */
  blankY?: boolean;
  /** The labels at the left, where they are not those of a number axis. */
  rows?: readonly string[];
  /** The range of a second axis at the right. */
  right?: Range | null;
}

const TOP = 10;
const GAP = 7;
const EDGE = 5;
const LEAST_LEFT = 34;
const LEAST_RIGHT = 14;
const LABELS_PX = 24;
const NAME_PX = 14;
/** Free pixels between two labels of x. */
const APART = 22;
const ROW_PX = 22;
/** Labels closer than this touch. */
const LEAST_ROW_PX = 16;
/** More lines than this make a tall chart a ruled page. */
const MOST_ROWS = 10;
/** Below this height the name of x would cost too much of the picture. */
const NAMED_HEIGHT = 110;

/** The box, the ticks with their labels and their pixels, for a canvas of this size. */
export function planAxes(
  axes: Axes,
  size: { width: number; height: number },
  options: AxesOptions,
  measure: Measure,
): AxesPlan {
  const xName = size.height >= NAMED_HEIGHT ? (options.xName ?? "") : "";
  const height = Math.max(10, size.height - TOP - LABELS_PX - (xName ? NAME_PX : 0));
  const rows = yTicks(axes, height, options);
  const widest = Math.max(0, ...(options.rows ?? rows.labels).map(measure));
  const left = Math.min(Math.max(LEAST_LEFT, Math.ceil(widest) + GAP + EDGE), Math.max(LEAST_LEFT, size.width / 2));
  const second: Axes | null = options.right ? { ...axes, y: options.right } : null;
  const marks: Ticks = second ? yTicks(second, height, {}) : { at: [], labels: [] };
  const side = second ? Math.ceil(Math.max(0, ...marks.labels.map(measure))) + GAP + EDGE : 0;
  const columns = options.names
    ? nameTicks(options.names, axes, size.width - left - Math.max(side, LEAST_RIGHT))
    : xTicks(axes, size.width - left - Math.max(0, side - LEAST_RIGHT), options, measure);
  const last = columns.labels[columns.labels.length - 1] ?? "";
  const right = Math.max(side, LEAST_RIGHT, options.names ? 0 : Math.ceil(measure(last) / 2) + 3);
  const box = { left, top: TOP, width: Math.max(10, size.width - left - right), height };
  const at = projection(axes, box);
  return {
    box,
    xName,
    x: placed(columns, at.x),
    y: placed(rows, at.y),
    right: second ? placed(marks, projection(second, box).y) : [],
  };
}

/** The labels of the x-axis below a picture whose box is given. */
export function labelsBelow(
  range: Range,
  box: Box,
  options: Pick<AxesOptions, "xKind" | "wholeX">,
  measure: Measure,
): Label[] {
  const axes: Axes = { x: range, y: [0, 1], logX: false, logY: false };
  return placed(xTicks(axes, box.width, options, measure), projection(axes, box).x);
}

const placed = ({ at, labels }: Ticks, pixel: (value: number) => number): Label[] =>
  at.map((value, i) => ({ at: value, px: pixel(value), text: labels[i] ?? "" }));

function yTicks(
  axes: Axes,
  height: number,
  { yKind = axes.logY ? "log" : "number", wholeY = false, blankY = false }: AxesOptions,
): Ticks {
  if (blankY) return { at: [], labels: [] };
  const at = upright(height, (count) => ticks(...axes.y, count, yKind, wholeY));
  return { at, labels: tickLabels(at, yKind) };
}

/**
 * The ticks of an upright axis: three or more where there is room, and two wherever the range has them, as one number
 * alone gives no scale.
 */
export function upright<T>(height: number, ticksOf: (count: number) => readonly T[]): readonly T[] {
  const most = Math.min(MOST_ROWS, Math.max(2, height / ROW_PX));
  let at = ticksOf(most);
  for (let count = most * 1.5; at.length < 3 && count < most * 8; count *= 1.5) {
    const more = ticksOf(count);
    if (at.length < 2 || more.length * LEAST_ROW_PX <= height) at = more;
  }
  return at;
}

/** As many round numbers as fit, and both ends. */
function xTicks(
  axes: Axes,
  width: number,
  { xKind = axes.logX ? "log" : "number", wholeX = false }: AxesOptions,
  measure: Measure,
): Ticks {
  const at = projection(axes, { left: 0, top: 0, width: Math.max(10, width - LEAST_RIGHT), height: 10 });
  const room = (labels: Ticks): boolean =>
    labels.at.every(
      (value, i) =>
        i === 0 ||
        at.x(value) - at.x(labels.at[i - 1] as number) >=
          (measure(labels.labels[i] ?? "") + measure(labels.labels[i - 1] ?? "")) / 2 + APART,
    );
  for (let count = Math.floor(width / 44); count >= 1; count -= Math.max(1, count >> 3)) {
    const inner = ticks(...axes.x, count, xKind, wholeX);
    const labels = { at: inner, labels: tickLabels(inner, xKind) };
    if (!room(labels)) continue;
    // The ends of the room around a single step are no steps.
    if (wholeX && !axes.x.every(Number.isInteger)) return labels;
    return withEnds(labels, axes.x, xKind, (a, b) => room({ at: [a.at, b.at], labels: [a.text, b.text] }));
  }
  return { at: [], labels: [] };
}

type Named = Pick<Label, "at" | "text">;

/** Both ends of the range get their label; a round number that would touch one gives way. */
function withEnds(inner: Ticks, range: Range, kind: AxisKind, apart: (a: Named, b: Named) => boolean): Ticks {
  const [low, high] = endLabels(range, inner.at, kind);
  const start = { at: range[0], text: low };
  const end = { at: range[1], text: high };
  const kept = inner.at
    .map((at, i) => ({ at, text: inner.labels[i] ?? "" }))
    .filter((one) => apart(start, one) && apart(one, end));
  const all = apart(start, end) ? [start, ...kept, end] : [end];
  return { at: all.map((one) => one.at), labels: all.map((one) => one.text) };
}

const NAME_WIDTH = 48;

function nameTicks(names: readonly string[], axes: Axes, width: number): Ticks {
  const every = Math.max(1, Math.ceil(names.length / Math.max(1, width / NAME_WIDTH)));
  const at = names.map((_, i) => i).filter((i) => i % every === 0 && i >= axes.x[0] && i <= axes.x[1]);
  return { at, labels: at.map((i) => names[i] ?? "") };
}

/** A label that has at most this many pixels: its middle goes, as names differ at their ends. */
export function fitted(label: string, most: number, measure: Measure): string {
  if (measure(label) <= most) return label;
  for (let kept = label.length - 1; kept > 1; kept--) {
    const head = Math.ceil(kept / 2);
    const cut = `${label.slice(0, head)}…${label.slice(label.length - (kept - head))}`;
    if (measure(cut) <= most) return cut;
  }
  return measure("…") <= most ? "…" : "";
}
