/** The lines that a shared file carries: unpacked, cut to a zoomed range, thinned to the pixels there are, smoothed. */

import type { Line, SeriesRequest } from "./schema";

/** A line as the file holds it; what follows from the rest is left out (`views/report/lines.py`). */
export interface PackedLine {
  /** "" for the line of a group. */
  run: string;
  /** The runs whose mean and band it is. */
  group?: string[];
  key: string;
  rank: number;
  /** What `x` is: `step`, or the name of a series. */
  axis: string;
  value: (number | null)[];
  points: number;
  x?: number[];
  /** Instead of `x`, for whole numbers: the first, and the way to each next one. */
  x0?: number;
  dx?: number[];
  low?: (number | null)[];
  high?: (number | null)[];
  nan?: number[];
  inf?: number[];
  nan_x?: number[];
  inf_x?: number[];
  last?: number | null;
  relative?: number[];
  started?: number;
  /** Smoothed over all points, by the option that asked for it: `ema:0.6`. */
  smoothed?: Record<string, (number | null)[]>;
  /** Of a group: the least and the greatest around each of these smoothed lines. */
  bands?: Record<string, [(number | null)[], (number | null)[]]>;
}

function ownX(line: PackedLine): number[] {
  if (line.x) return line.x;
  const x = [line.x0 ?? 0];
  for (const step of line.dx ?? []) x.push((x[x.length - 1] as number) + step);
  return line.value.length ? x : [];
}

/** The places along an axis, or null when the file has none for it. */
function placesOf(line: PackedLine, axis: string): number[] | null {
  if (axis === line.axis) return ownX(line);
  if (line.axis !== "step" || !line.relative) return null;
  if (axis === "relative") return line.relative;
  const { started } = line;
  return axis === "wall" && started !== undefined ? line.relative.map((s) => started + s) : null;
}

/** The line that a chart asks for, or null when the file does not have it over that axis. */
export function lineFor(line: PackedLine, request: SeriesRequest): Line | null {
  const x = placesOf(line, request.x ?? "step");
  if (!x) return null;
  const { smooth, low, high } = drawnOf(line, request.smoothing);
  const order = sorted(x) ? null : x.map((_, at) => at).sort((a, b) => (x[a] as number) - (x[b] as number));
  const at = (n: number): number => (order ? (order[n] as number) : n);
  const [from, to] = windowOf(x, at, request.lo ?? null, request.hi ?? null);
  const count = to - from;
  const groups = Math.min(count, Math.max(1, request.buckets ?? 400));
  const out: Line = {
    run: line.run,
    key: line.key,
    rank: line.rank,
    x: [],
    value: [],
    low: [],
    high: [],
    smooth: smooth ? [] : null,
    nan: [],
    inf: [],
    points: line.points,
    superseded: false,
    last: line.last ?? null,
    version: 0,
    nan_x: [],
    inf_x: [],
  };
  const odd = oddOf(line);
  for (let group = 0; group < groups; group++) {
    const first = from + Math.floor((group * count) / groups);
    const end = from + Math.floor(((group + 1) * count) / groups);
    addGroup(
      out,
      { x, value: line.value, low, high, smooth },
      Array.from({ length: end - first }, (_, n) => at(first + n)),
      odd,
    );
  }
  return out;
}

const sorted = (x: readonly number[]): boolean => x.every((value, at) => at === 0 || value >= (x[at - 1] as number));

/** The part of the line inside a range, and one point beyond each end, so that it runs on to the edge. */
function windowOf(
  x: readonly number[],
  at: (n: number) => number,
  lo: number | null,
  hi: number | null,
): [number, number] {
  let from = 0;
  let to = x.length;
  if (lo !== null) while (from < to && (x[at(from)] as number) < lo) from++;
  if (hi !== null) while (to > from && (x[at(to - 1)] as number) > hi) to--;
  return [lo === null ? from : Math.max(0, from - 1), hi === null ? to : Math.min(x.length, to + 1)];
}

interface Odd {
  nan: ReadonlyMap<number, number>;
  above: ReadonlyMap<number, number>;
  below: ReadonlyMap<number, number>;
}

/** Which places hold something that is not finite, and where exactly. */
function oddOf(line: PackedLine): Odd {
  const inf = line.inf ?? [];
  return {
    nan: new Map((line.nan ?? []).map((at, n) => [at, line.nan_x?.[n] ?? Number.NaN])),
    above: new Map(inf.flatMap((at, n) => (at >= 0 ? [[at, line.inf_x?.[n] ?? Number.NaN] as const] : []))),
    below: new Map(inf.flatMap((at, n) => (at < 0 ? [[-at - 1, line.inf_x?.[n] ?? Number.NaN] as const] : []))),
  };
}

const least = (values: readonly (number | null)[]): number | null => extreme(values, Math.min);
const most = (values: readonly (number | null)[]): number | null => extreme(values, Math.max);

function extreme(values: readonly (number | null)[], pick: (a: number, b: number) => number): number | null {
  return values.reduce<number | null>(
    (best, value) => (value === null ? best : best === null ? value : pick(best, value)),
    null,
  );
}

function mean(values: readonly (number | null)[]): number | null {
  const finite = values.filter((value) => value !== null);
  return finite.length ? finite.reduce((sum, value) => sum + value, 0) / finite.length : null;
}

type Values = readonly (number | null)[];

interface Columns {
  x: readonly number[];
  value: Values;
  low: Values;
  high: Values;
  smooth: Values | null;
}

/** Several places become one bucket: its mean, its extremes, and what of it is not finite. */
function addGroup(out: Line, { x, value, low, high, smooth }: Columns, group: readonly number[], odd: Odd): void {
  const pick = (values: Values) => group.map((at) => values[at] ?? null);
  const index = out.x.length;
  out.x.push(
    group.length === 1
      ? (x[group[0] as number] as number)
      : ((x[group[0] as number] as number) + (x[group[group.length - 1] as number] as number)) / 2,
  );
  out.value.push(mean(pick(value)));
  out.low.push(least(pick(low)));
  out.high.push(most(pick(high)));
  if (smooth) out.smooth?.push(mean(pick(smooth)));
  const [nan, above, below] = [odd.nan, odd.above, odd.below].map((places) => group.find((at) => places.has(at)));
  if (nan !== undefined) out.nan.push(index), out.nan_x.push(odd.nan.get(nan) as number);
  // Those above come before those below, as the server has them.
  if (above !== undefined) {
    const firstBelow = out.inf.findIndex((at) => at < 0);
    const place = firstBelow < 0 ? out.inf.length : firstBelow;
    out.inf.splice(place, 0, index);
    out.inf_x.splice(place, 0, odd.above.get(above) as number);
  }
  if (below !== undefined) out.inf.push(-index - 1), out.inf_x.push(odd.below.get(below) as number);
}

/** The file has the smoothing its author chose, made over all points; any other is made from what the file has. */
function drawnOf(line: PackedLine, smoothing: SeriesRequest["smoothing"]): Pick<Columns, "low" | "high" | "smooth"> {
  const { value, low = value, high = value } = line;
  const name = `${smoothing?.kind}:${smoothing?.amount}`;
  const smooth = line.smoothed?.[name] ?? smoothed(line, value, smoothing);
  if (!smooth || !line.group) return { low, high, smooth };
  // The band of a group is that of the line which is followed.
  const band = line.bands?.[name];
  return {
    smooth,
    low: band?.[0] ?? smoothed(line, low, smoothing) ?? low,
    high: band?.[1] ?? smoothed(line, high, smoothing) ?? high,
  };
}

function smoothed(line: PackedLine, values: Values, smoothing: SeriesRequest["smoothing"]): Values | null {
  const kind = smoothing?.kind ?? "none";
  const amount = smoothing?.amount ?? 0;
  if (kind === "none" || amount <= 0) return null;
  const each = Math.max(1, line.points / Math.max(1, values.length)); // points behind one place
  if (kind === "ema") return average(values, amount ** each);
  const reach = (kind === "mean" ? (amount - 1) / 2 : 3 * amount) / each;
  return around(values, reach, kind === "mean" ? () => 1 : (far) => Math.exp(-0.5 * ((far * each) / amount) ** 2));
}

/** The exponential average, without the pull of its start towards zero. */
function average(values: readonly (number | null)[], weight: number): (number | null)[] {
  let [top, bottom] = [0, 0];
  return values.map((value) => {
    top = weight * top + (value ?? 0);
    bottom = weight * bottom + (value === null ? 0 : 1);
    return bottom > 0 ? top / bottom : null;
  });
}

function around(values: readonly (number | null)[], reach: number, weight: (far: number) => number): (number | null)[] {
  const steps = Math.floor(reach);
  return values.map((_, at) => {
    let [top, bottom] = [0, 0];
    for (let far = -steps; far <= steps; far++) {
      const value = values[at + far];
      if (value === undefined || value === null) continue;
      top += weight(far) * value;
      bottom += weight(far);
    }
    return bottom > 0 ? top / bottom : null;
  });
}
