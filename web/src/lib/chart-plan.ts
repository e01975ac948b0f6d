/** Which lines to ask the server for: what is visible, not yet here, or changed; in as few requests as possible. */

import type { Smooth } from "./chart-settings";
import type { Range } from "./chart-line";
import type { SeriesRequest } from "./schema";

/** How a panel is drawn, apart from which runs: two panels with the same view can share a request. */
export interface View {
  x: string;
  window: Range | null;
  buckets: number;
  smoothing: Smooth;
  superseded: boolean;
  ranks: boolean;
  /** What the band of a group of runs is; "" for runs. */
  spread?: string;
}

export const viewId = (view: View): string =>
  JSON.stringify([view.x, view.window, view.buckets, view.smoothing, view.superseded, view.ranks, view.spread ?? ""]);

/** What one visible panel still needs. */
export interface Need {
  key: string;
  view: View;
  runs: readonly string[];
}

const MOST_KEYS = 24;
/** So many lines in one request: with a hundred runs the first charts are there while others are still read. */
const MOST_LINES = 400;
const MOST_CELLS = 24_000;

/**
 * As many buckets as the panel has pixels, in steps so that small resizes ask nothing; fewer when there are many lines.
 */
export function bucketsFor(width: number, lines: number): number {
  const pixels = Math.ceil(Math.max(width, 1) / 200) * 200;
  const share = Math.floor(MOST_CELLS / Math.max(1, lines) / 50) * 50;
  return Math.max(100, Math.min(pixels, share, 2000));
}

/** Groups needs that can travel together. */
export function planRequests(needs: readonly Need[]): SeriesRequest[] {
  const groups = new Map<string, Need[]>();
  for (const need of needs) {
    if (need.runs.length === 0) continue;
    const id = `${viewId(need.view)}\n${need.runs.join(",")}`;
    const group = groups.get(id);
    if (group) group.push(need);
    else groups.set(id, [need]);
  }
  return [...groups.values()].flatMap((group) => {
    const { view, runs } = group[0] as Need;
    const size = Math.max(1, Math.min(MOST_KEYS, Math.floor(MOST_LINES / runs.length)));
    const out: SeriesRequest[] = [];
    for (let i = 0; i < group.length; i += size)
      out.push(
        request(
          view,
          runs,
          group.slice(i, i + size).map((n) => n.key),
        ),
      );
    return out;
  });
}

function request(view: View, runs: readonly string[], keys: string[]): SeriesRequest {
  return {
    runs: [...runs],
    keys,
    x: view.x,
    lo: view.window?.[0] ?? null,
    hi: view.window?.[1] ?? null,
    buckets: view.buckets,
    smoothing: view.smoothing,
    superseded: view.superseded,
    ranks: view.ranks,
  };
}
