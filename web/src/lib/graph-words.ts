/** What is written on items and edges of the graph, and beside them. */

import { formatBytes, formatNumber, visibleText } from "./format";
import { boxAt, type GraphModel, type Item, nodeAt, type Tensor } from "./graph-model";
import type { Shown } from "./graph-shown";

const SHORT: Record<string, string> = {
  float64: "f64",
  float32: "f32",
  float16: "f16",
  bfloat16: "bf16",
  int64: "i64",
  int32: "i32",
  int16: "i16",
  int8: "i8",
  uint8: "u8",
  bool: "bool",
  complex64: "c64",
  complex128: "c128",
  float8_e4m3fn: "f8e4m3",
  float8_e5m2: "f8e5m2",
}; // prettier-ignore

export function shortDtype(dtype: string): string {
  return SHORT[dtype] ?? dtype;
}

/** `8×128×768`; a tensor without dimensions is `scalar`, a size that is not known `?`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? "scalar" : shape.map((size) => (size < 0 ? "?" : size)).join("×");
}

export function tensorText(tensor: Tensor): string {
  return `${shapeText(tensor.shape)} ${shortDtype(tensor.dtype)}`;
}

/** The label of an edge that stands for several recorded ones: the tensor when it is one, else how many. */
export function edgeText(model: GraphModel, edges: readonly number[]): string {
  const ids = [...new Set(edges.map((edge) => model.edges[edge]?.tensor ?? -1))];
  const first = model.tensors[ids[0] ?? -1];
  if (!first) return "";
  if (ids.length === 1) return tensorText(first);
  const texts = new Set(
    ids
      .map((id) => model.tensors[id])
      .filter((tensor) => tensor !== undefined)
      .map(tensorText),
  );
  return texts.size === 1 ? `${ids.length}× ${tensorText(first)}` : `${ids.length} tensors`;
}

const LONGEST = 44;

/** A name as it is written on an item: without letters that could rearrange the page, and never endless. */
export function cut(text: string, longest = LONGEST): string {
  const clean = visibleText(text.slice(0, 4 * longest));
  return clean.length > longest ? `${clean.slice(0, longest - 1)}…` : clean;
}

export interface Caption {
  title: string;
  /** A second, quieter line; "" when there is none. */
  detail: string;
  /** `×12` on a folded block. */
  badge: string;
}

export function captionOf(shown: Shown, item: Item): Caption {
  const { model } = shown;
  const box = boxAt(model, item);
  if (box) {
    const badge = box.repeat > 1 && !shown.view.unfolded.has(item) ? `×${box.repeat}` : "";
    const again = box.calls > 1 ? ` · call ${box.call + 1} of ${box.calls}` : "";
    return { title: box.label, detail: `${box.type === box.label ? "" : box.type}${again}`.replace(/^ · /, ""), badge };
  }
  const part = shown.parts.get(item);
  if (part) {
    const ends = [part.items[0], part.items[part.items.length - 1]].map((end) => captionOf(shown, end as Item).title);
    return {
      title: ends.map((end) => cut(end, LONGEST / 2 - 2)).join(" … "),
      detail: `${part.items.length} in a row`,
      badge: "",
    };
  }
  const node = nodeAt(model, item);
  return { title: node?.name ?? model.data.model ?? "step", detail: "", badge: "" };
}

/** `850 µs`, `12.4 ms`, `3.1 s`. */
export function formatMicros(us: number): string {
  if (us < 999.5) return `${formatNumber(us, us < 10 ? 2 : 3)} µs`;
  if (us < 999_500) return `${formatNumber(us / 1000, 3)} ms`;
  return `${formatNumber(us / 1e6, 3)} s`;
}

/** `940`, `1.2 K`, `12.3 M`, `4.1 G`: for parameters and FLOPs. */
export function formatCount(value: number): string {
  const units: [number, string][] = [
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "K"],
  ]; // prettier-ignore
  for (const [size, unit] of units)
    if (value >= size * 0.9995) return `${Number((value / size).toPrecision(3))} ${unit}`;
  return String(Math.round(value));
}

export { formatBytes };

/** `model.py:42` from a whole path: the folder is in the tooltip. */
export function siteText(site: { file: string; line: number }): string {
  return `${site.file.split(/[\\/]/).pop() ?? site.file}:${site.line}`;
}
