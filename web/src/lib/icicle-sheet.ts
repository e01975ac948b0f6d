/** The functions of a call tree as a sheet: own time, total time, calls. */

import type { FunctionTime, Tree } from "./icicle-tree";
import type { Column, Sheet } from "./schema";

/** One row a function, in the order given. `whole` is what shares are of. */
export function functionsSheet(tree: Tree, functions: readonly FunctionTime[], whole: number): Sheet {
  const unit = tree.stack.unit ?? "ns";
  const columns: Column[] = [
    { key: "function", label: "Function", unit: "text", help: "The function, with the file and line it begins at" },
    { key: "own", label: "Own", unit, help: "Time in the function itself, without what it calls" },
    { key: "share", label: "Share", unit: "share", help: "Own time, of the time of all that is shown" },
    {
      key: "total",
      label: "Total",
      unit,
      help: "Time in the function and all it calls; where it calls itself, counted once",
    },
    ...(tree.calls ? [{ key: "calls", label: "Calls", unit: "count", help: "How often it was called" } as Column] : []),
    { key: "place", label: "Place", unit: "line", help: "Source location", hidden: true },
  ];
  const { names, files, lines } = tree.stack;
  return {
    id: "python-tree-functions",
    title: "Functions",
    columns,
    rows: functions.map((one) => [
      names[one.name] ?? "",
      one.own,
      one.own / Math.max(whole, 1e-300),
      one.total,
      ...(tree.calls ? [one.calls] : []),
      files[one.name] ? `${files[one.name]}:${lines[one.name] ?? 0}` : null,
    ]),
    sort: "own",
    notes: tree.stack.notes ?? [],
  };
}
