/** A selection of the timeline as a sheet, so that it sorts, filters and exports as all tables of a profile do. */

import type { Column, Selection, Sheet } from "./schema";

const COLUMNS: Column[] = [
  { key: "name", label: "Name", unit: "text", help: "All events of this name and kind in the selection" },
  { key: "kind", label: "Kind", unit: "text", help: "What kind of event it is" },
  { key: "count", label: "Count", unit: "count", help: "How many events of this name meet the selection" },
  { key: "self_ns", label: "Own time", unit: "ns", help: "Time inside the selection, without the events inside them" },
  {
    key: "self_share",
    label: "Own share",
    unit: "share",
    help: "Own time as a share of the selected time; lanes run at the same time, so all together can be more than 100%",
  },
  {
    key: "total_ns",
    label: "Total time",
    unit: "ns",
    help: "Time inside the selection; an event inside one of the same name is not counted again",
  },
  { key: "mean_ns", label: "Mean", unit: "ns", help: "Total time over the count" },
  { key: "longest_ns", label: "Longest", unit: "ns", help: "The longest of them, inside the selection" },
];

/** One row a name and kind, over all ranks; the one with the most own time first. */
export function selectionSheet(selections: readonly Selection[], length: number): Sheet {
  const rows = new Map<
    string,
    { name: string; kind: string; count: number; own: number; total: number; longest: number }
  >();
  for (const selection of selections)
    for (const one of selection.names) {
      const key = `${one.kind} ${one.name}`;
      const row = rows.get(key) ?? { name: one.name, kind: one.kind, count: 0, own: 0, total: 0, longest: 0 };
      row.count += one.count;
      row.own += one.self_ns;
      row.total += one.total_ns;
      row.longest = Math.max(row.longest, one.longest_ns);
      rows.set(key, row);
    }
  const sorted = [...rows.values()].sort((a, b) => b.own - a.own);
  const omitted = selections.reduce((sum, one) => sum + one.omitted, 0);
  return {
    id: "timeline-selection",
    title: "What ran",
    columns: COLUMNS,
    rows: sorted.map((row) => [
      row.name,
      row.kind.replace(/_/g, " "),
      row.count,
      row.own,
      row.own / Math.max(1, length),
      row.total,
      row.total / Math.max(1, row.count),
      row.longest,
    ]),
    sort: "self_ns",
    notes: omitted > 0 ? [`${omitted.toLocaleString("en-US")} further names have less own time and are left out`] : [],
  };
}
