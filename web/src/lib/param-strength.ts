/** Which columns to draw first: those the metric goes with, the strongest beside it. */

import type { ParamColumn, ParamTable } from "./param-table";

const BINS = 6;

/** Places from 0 up in the order of the values; equal ones share the mean of theirs. NaN stays. */
function ranksOf(values: Float64Array): Float64Array {
  const order = Array.from(values.keys()).filter((at) => !Number.isNaN(values[at] as number));
  order.sort((a, b) => (values[a] as number) - (values[b] as number));
  const ranks = new Float64Array(values.length).fill(Number.NaN);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to + 1 < order.length && values[order[to + 1] as number] === values[order[from] as number]) to++;
    for (let at = from; at <= to; at++) ranks[order[at] as number] = (from + to) / 2;
    from = to + 1;
  }
  return ranks;
}

/**
 * The share of the metric's rank variance that lies between groups of runs (by name, or by six even shares of a
 * number's runs), less what chance would put there. So a best value in the middle counts too. 0 where it cannot be
 * told.
 */
export function strength(column: ParamColumn, metricRanks: Float64Array): number {
  const own = column.kind === "number" && column.distinct > BINS ? ranksOf(column.values) : column.values;
  const there = Array.from(own.keys()).filter(
    (at) => !Number.isNaN(own[at] as number) && !Number.isNaN(metricRanks[at] as number),
  );
  const binned = own !== column.values;
  const groups = new Map<number, { count: number; sum: number }>();
  let sum = 0;
  let squares = 0;
  for (const run of there) {
    const group = binned
      ? Math.min(BINS - 1, Math.floor(((own[run] as number) / own.length) * BINS))
      : (own[run] as number);
    const y = metricRanks[run] as number;
    const known = groups.get(group) ?? { count: 0, sum: 0 };
    known.count++;
    known.sum += y;
    groups.set(group, known);
    sum += y;
    squares += y * y;
  }
  const count = there.length;
  const spread = squares - (sum * sum) / Math.max(1, count);
  if (groups.size < 2 || count <= groups.size || !(spread > 0)) return 0;
  let between = -(sum * sum) / count;
  for (const group of groups.values()) between += group.sum ** 2 / group.count;
  return Math.max(0, 1 - (spread - between) / (count - groups.size) / (spread / (count - 1)));
}

/**
 * The keys of config columns from the weakest to the strongest, at most `most`; then other metrics, and the metric
 * last.
 */
export function usualAxes(table: ParamTable, most = 8): string[] {
  const ranks = table.metric ? ranksOf(table.metric.values) : null;
  // A key that some runs lack and that has one value in all others says nothing as an axis.
  const config = table.columns.filter((column) => column.source === "config" && column.distinct > 1);
  const weights = new Map(config.map((column) => [column, ranks ? strength(column, ranks) : 0]));
  const chosen = config.sort((a, b) => (weights.get(a) as number) - (weights.get(b) as number)).slice(-most);
  const others = table.columns.filter((column) => column.source === "metric" && column !== table.metric);
  return [...chosen, ...others, ...(table.metric ? [table.metric] : [])].map((column) => column.key);
}
