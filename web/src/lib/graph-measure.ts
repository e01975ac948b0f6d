/** Numbers and kinds by which items are coloured, and the scales that turn them into colour. */

import { boxAt, foldedInto, type GraphModel, type Item, nodeAt } from "./graph-model";
import { nodesInside, type Shown } from "./graph-shown";
import { formatBytes, formatCount, formatMicros, shortDtype } from "./graph-words";

export type Amount = "time" | "memory" | "flops";
export type Kind = "dtype" | "device" | "phase";
export type ColourBy = "none" | Amount | Kind | "nonfinite";

export const COLOURS: readonly { value: ColourBy; label: string }[] = [
  { value: "none", label: "No colour" },
  { value: "time", label: "Time" },
  { value: "memory", label: "Memory kept for backward" },
  { value: "flops", label: "FLOPs" },
  { value: "dtype", label: "Dtype" },
  { value: "device", label: "Device" },
  { value: "phase", label: "Phase" },
  { value: "nonfinite", label: "NaN and Inf" },
];

export function isAmount(by: ColourBy): by is Amount {
  return by === "time" || by === "memory" || by === "flops";
}

const FIELD = { time: "time_us", memory: "saved_bytes", flops: "flops" } as const;

/** A folded block stands for all of its kind, so it has the sum. */
export function amountOf(shown: Shown, item: Item, by: Amount): number | null {
  const { model, view } = shown;
  const box = boxAt(model, item);
  if (box) {
    const all = box.repeat > 1 && !view.unfolded.has(item) ? foldedInto(model, item) : [box];
    return sum(all.map((one) => one[FIELD[by]]));
  }
  const node = nodeAt(model, item);
  if (node) return node[FIELD[by]];
  return sum(nodesInside(shown, item).map((id) => model.nodes[id]?.[FIELD[by]] ?? null));
}

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

export function amountText(value: number, by: Amount): string {
  return by === "time" ? formatMicros(value) : by === "memory" ? formatBytes(value) : formatCount(value);
}

/** Square root: the largest few stand out, and a tenth of them is still told from nothing. */
export function heat(value: number | null, largest: number): number | null {
  if (value === null) return null;
  return largest > 0 ? Math.sqrt(Math.max(0, Math.min(1, value / largest))) : 0;
}

/** The kinds inside an item and how many of its nodes have each, the most frequent first. */
export function kindsOf(shown: Shown, item: Item, by: Kind): [string, number][] {
  const counts = new Map<string, number>();
  for (const id of nodesInside(shown, item)) {
    const kind = kindOfNode(shown.model, id, by);
    if (kind !== null) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function kindOfNode(model: GraphModel, id: number, by: Kind): string | null {
  const node = model.nodes[id];
  if (!node || node.kind === "parameter" || node.kind === "buffer") return null;
  if (by === "phase") return node.phase;
  const made = node.outputs[0] ?? model.edges[model.arriving[id]?.[0] ?? -1]?.tensor;
  const tensor = made === undefined ? undefined : model.tensors[made];
  if (!tensor) return null;
  return by === "dtype" ? shortDtype(tensor.dtype) : tensor.device;
}

/**
 * A number in the palette for every kind in the graph, the most frequent first, so that colours stay while boxes open.
 */
export function palette(shown: Shown, by: Kind): Map<string, number> {
  return new Map(kindsOf(shown, shown.model.root, by).map(([kind], at) => [kind, at]));
}

/** Whether an item wrote (or holds an op that wrote) a NaN or an Inf. */
export function isNonfinite(shown: Shown, item: Item): boolean {
  const box = boxAt(shown.model, item);
  if (box) return box.nonfinite || foldedInto(shown.model, item).some((one) => one.nonfinite);
  const node = nodeAt(shown.model, item);
  if (node) return node.nonfinite;
  return nodesInside(shown, item).some((id) => shown.model.nodes[id]?.nonfinite);
}

/** The first op that wrote a NaN or an Inf, in the order of the step. */
export function firstNonfinite(model: GraphModel): number | null {
  let first: number | null = null;
  for (const node of model.nodes) {
    if (!node.nonfinite || node.op === null) continue;
    if (first === null || node.op < (model.nodes[first]?.op ?? Infinity)) first = node.id;
  }
  return first;
}
