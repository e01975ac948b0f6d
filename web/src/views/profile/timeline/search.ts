/** What the timeline's search has found, and which hit comes next. */

import { call } from "../../../lib/api";
import type { FoundEvents } from "../../../lib/schema";
import type { Place, RankSource } from "./state";

export interface SearchState {
  text: string;
  error: string | null;
  /** Of each rank, a mark for every name that matches. */
  lit: (Uint8Array | null)[];
  names: number;
  total: number;
  /** Which hit is chosen, over all ranks; -1 for none. */
  at: number;
  found: (FoundEvents | null)[];
  asking: boolean;
}

export const NO_SEARCH: SearchState = {
  text: "",
  error: null,
  lit: [],
  names: 0,
  total: 0,
  at: -1,
  found: [],
  asking: false,
};
const MOST_NAMES = 50_000;

/** The events of one rank with these names: how many, and the one at `index` or the first after a time. */
export function askHits(
  place: Place,
  source: RankSource,
  names: readonly number[],
  index: number | null,
  after = 0,
): Promise<FoundEvents> {
  return call("POST /api/timeline/find", {
    ...place,
    rank: source.page.rank,
    names: names.slice(0, MOST_NAMES),
    index,
    after_ns: after,
  });
}

/** The next hit (or with -1 the one before) over all ranks: its number, its rank, and its number there. */
export function nextHit(search: SearchState, by: 1 | -1): { at: number; source: number; index: number } {
  const firsts: number[] = [];
  let sum = 0;
  for (const one of search.found) {
    firsts.push(sum);
    sum += one?.total ?? 0;
  }
  const here = search.found[0]?.index ?? 0;
  const start = search.at >= 0 ? search.at + by : by > 0 ? here : here - 1;
  const at = ((start % search.total) + search.total) % search.total;
  const source = firsts.reduce(
    (last, first, one) => (at >= first && (search.found[one]?.total ?? 0) > 0 ? one : last),
    0,
  );
  return { at, source, index: at - (firsts[source] ?? 0) };
}
