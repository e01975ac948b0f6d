/** The stretch of a curve in which something happens. */

import type { Curve } from "./schema";

const WORTH = 0.15;
const MARGIN = 0.03;

/** From and to in ns: a long beginning or end in which no line moves is left out, but for a little of it. */
export function movingSpan({ at_ns: at, lines }: Curve): [number, number] {
  const all = Object.values(lines);
  const first = at[0] ?? 0;
  const last = at[at.length - 1] ?? first + 1;
  const moves = (i: number) => all.some((line) => line[i] !== line[i - 1]);
  let from = 1;
  while (from < at.length && !moves(from)) from++;
  let to = at.length - 1;
  while (to > from && !moves(to)) to--;
  if (from >= at.length) return [first, last];
  const [begin, end] = [at[from] ?? first, at[to] ?? last];
  const margin = (end - begin) * MARGIN;
  const worth = (gap: number) => gap > (last - first) * WORTH;
  return [
    worth(begin - first) ? Math.max(first, begin - margin) : first,
    worth(last - end) ? Math.min(last, end + margin) : last,
  ];
}
