/** Finding items by what a person remembers of them: op, module, class, shape, dtype, file or line. */

import { boxAt, type GraphModel, type Item, itemOfNode } from "./graph-model";
import { shapeText, shortDtype, siteText } from "./graph-words";

export interface Found {
  item: Item;
  title: string;
  /** Where it is: the module's path. */
  where: string;
  /** What else matched or helps to tell it from others: shape, class, file. */
  detail: string;
}

export interface Index {
  entries: readonly (Found & { text: string; name: string })[];
}

/** One line of lower-case text per item; made once per graph, in a few milliseconds for thousands of ops. */
export function indexOf(model: GraphModel): Index {
  const boxes = model.boxes.map((box) => ({
    item: box.id,
    title: box.label,
    where: box.path || box.label,
    detail: box.type,
    name: box.label.toLowerCase(),
    text: lower([box.label, box.path ?? "", box.type, box.extra, placeOf(model, box.site)]),
  }));
  const nodes = model.nodes.map((node) => {
    const made = node.outputs.map((at) => model.tensors[at]).filter((tensor) => tensor !== undefined);
    const shapes = made.map((tensor) => `${shapeText(tensor.shape)} ${shortDtype(tensor.dtype)} ${tensor.dtype}`);
    const path = node.box === null ? "" : (boxAt(model, node.box)?.path ?? "");
    const place = placeOf(model, node.site);
    const first = made[0];
    return {
      item: itemOfNode(model, node.id),
      title: node.name,
      where: path,
      detail: [first ? shapeText(first.shape) : "", shortPlace(model, node.site)].filter(Boolean).join(" · "),
      name: node.name.toLowerCase(),
      text: lower([node.name, path, ...shapes, place, node.kind === "op" ? "" : node.kind, node.args]),
    };
  });
  return { entries: [...boxes, ...nodes] };
}

function placeOf(model: GraphModel, site: number | null): string {
  const known = site === null ? undefined : model.sites[site];
  return known ? `${known.file}:${known.line} ${known.function ?? ""}` : "";
}

function shortPlace(model: GraphModel, site: number | null): string {
  const known = site === null ? undefined : model.sites[site];
  return known ? siteText(known) : "";
}

function lower(parts: readonly string[]): string {
  return parts.join(" ").toLowerCase();
}

/** All words must appear; `8x128` finds `8×128`. Names that equal or start with the query come first. */
export function search(index: Index, query: string, limit = 60): { found: Found[]; total: number } {
  const typed = query.trim().toLowerCase();
  if (typed === "") return { found: [], total: 0 };
  const words = typed.replace(/(?<=\d)\s*[x*]\s*(?=\d)/g, "×").split(/\s+/);
  const hits = index.entries
    .filter((entry) => words.every((word) => entry.text.includes(word)))
    .map((entry, at) => ({ entry, at, rank: rankOf(entry.name, typed) }));
  hits.sort((a, b) => a.rank - b.rank || a.at - b.at);
  return { found: hits.slice(0, limit).map(({ entry }) => entry), total: hits.length };
}

function rankOf(name: string, typed: string): number {
  if (name === typed) return 0;
  if (name.startsWith(typed)) return 1;
  return name.includes(typed) ? 2 : 3;
}
