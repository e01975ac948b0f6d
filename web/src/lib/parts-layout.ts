/** Steps cut into parts: what each bar shows, where it stands, and what is under the mouse. */

import type { StepParts } from "./schema";

export interface Bar {
  /** The step's number; of several steps in one bar the first and the last. */
  first: number;
  last: number;
  wall: number;
  parts: number[];
  /** Left out of the typical step. */
  odd: boolean;
}

/** One bar a step, or the mean of neighbours where there are more steps than `most` bars. */
export function bars(data: StepParts, most: number): Bar[] {
  const count = data.steps.length;
  const each = Math.max(1, Math.ceil(count / Math.max(1, most)));
  const found: Bar[] = [];
  // The odd first step keeps a bar of its own: averaged into others it would spoil theirs.
  let at = 0;
  while (at < count) {
    const until = Math.min(count, at === 0 && data.first_is_odd ? 1 : at + each);
    found.push(meanBar(data, at, until));
    at = until;
  }
  return found;
}

function meanBar(data: StepParts, from: number, until: number): Bar {
  const parts = data.parts.map(() => 0);
  let wall = 0;
  for (let at = from; at < until; at++) {
    wall += (data.wall_ns[at] ?? 0) / (until - from);
    data.parts_ns[at]?.forEach((ns, part) => (parts[part] = (parts[part] ?? 0) + ns / (until - from)));
  }
  return {
    first: data.steps[from] ?? from,
    last: data.steps[until - 1] ?? until - 1,
    wall,
    parts,
    odd: from === 0 && (data.first_is_odd ?? false),
  };
}

/** The height of the axis: the tallest bar, but an odd first step alone does not press the others flat. */
export function tallest(found: readonly Bar[]): number {
  const usual = found.filter((bar) => !bar.odd).reduce((most, bar) => Math.max(most, bar.wall), 0);
  const odd = found.find((bar) => bar.odd)?.wall ?? 0;
  if (usual === 0) return odd || 1;
  return odd > usual * 1.6 ? usual * 1.6 : Math.max(usual, odd);
}

/** The typical step: as the analysis gives it, else the mean over the steps without an odd first one. */
export function typicalParts(data: StepParts): number[] {
  if (data.typical_ns && data.typical_ns.length === data.parts.length) return data.typical_ns;
  const used = data.parts_ns.slice(data.first_is_odd && data.parts_ns.length > 1 ? 1 : 0);
  return data.parts.map((_, part) => used.reduce((sum, step) => sum + (step[part] ?? 0), 0) / Math.max(1, used.length));
}

export interface Slice {
  part: number;
  ns: number;
  share: number;
}

/** Parts of the typical step, the largest first; what never happened is left out. */
export function slices(data: StepParts): Slice[] {
  const typical = typicalParts(data);
  const whole = typical.reduce((sum, ns) => sum + ns, 0);
  return typical
    .map((ns, part) => ({ part, ns, share: whole > 0 ? ns / whole : 0 }))
    .filter((slice) => slice.ns > 0)
    .sort((a, b) => b.ns - a.ns || a.part - b.part);
}

/** How much longer the first step took than the typical one, e.g. 12.5; null when it is not odd. */
export function firstEffect(data: StepParts): number | null {
  const whole = typicalParts(data).reduce((sum, ns) => sum + ns, 0);
  const first = data.wall_ns[0];
  return data.first_is_odd && first !== undefined && whole > 0 ? first / whole : null;
}
