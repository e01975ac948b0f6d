/**
 * What could be seen of a graph if every box were open: equal blocks folded into the first, weights left out unless
 * asked for, and the items of very full boxes gathered in parts, so that no single layout is ever large.
 */

import { boxAt, type GraphModel, type Item, nodeAt } from "./graph-model";

export interface View {
  /** First blocks whose followers are shown one by one. */
  unfolded: ReadonlySet<Item>;
  /** Parameters and buffers as nodes of their own. */
  weights: boolean;
}

/** Some of the items of a box that has too many, in the order they ran. */
export interface Part {
  first: number;
  last: number;
  items: readonly Item[];
}

export interface Shown {
  model: GraphModel;
  view: View;
  /** The item that stands for each item, or -1 when nothing does. */
  standsFor: Int32Array;
  parent: ReadonlyMap<Item, Item>;
  children: ReadonlyMap<Item, readonly Item[]>;
  parts: ReadonlyMap<Item, Part>;
  /** Ends of each recorded edge, as they are shown; -1 for both when it is not. */
  source: Int32Array;
  target: Int32Array;
  /** Edges by the innermost item around both ends. */
  edgesIn: ReadonlyMap<Item, readonly number[]>;
}

/** A box with more items than this is cut into parts. */
export const FULL = 140;
const PART = 50;

export function show(model: GraphModel, view: View): Shown {
  const standsFor = standIns(model, view);
  const { children, parts } = gather(model, standsFor);
  const parent = new Map<Item, Item>();
  for (const [box, items] of children) for (const item of items) parent.set(item, box);
  const source = new Int32Array(model.edges.length).fill(-1);
  const target = new Int32Array(model.edges.length).fill(-1);
  const edgesIn = new Map<Item, number[]>();
  const depth = depths(parent, model.root);
  model.edges.forEach((edge, at) => {
    const ends = drawnEnds(model, standsFor, edge.source, edge.target);
    if (!ends) return;
    [source[at], target[at]] = ends;
    const home = around(parent, depth, ends[0], ends[1]);
    const known = edgesIn.get(home);
    if (known) known.push(at);
    else edgesIn.set(home, [at]);
  });
  return { model, view, standsFor, parent, children, parts, source, target, edgesIn };
}

/** Walks the boxes from the outside in: inside a folded block, everything is shown at its place in the first block. */
function standIns(model: GraphModel, view: View): Int32Array {
  const { boxes, nodes } = model;
  const standsFor = new Int32Array(model.root + 1);
  const shift = (item: Item, from: number, to: number, fromBox: Item, toBox: Item): Item =>
    item < boxes.length ? item - fromBox + toBox : item - from + to;
  for (const box of boxes) {
    const head = box.fold !== null && !isUnfolded(view, standsFor, box.fold) ? boxes[box.fold] : null;
    const moved = outerMove(model, standsFor, box.id, shift);
    standsFor[box.id] = head ? (standsFor[head.id] as Item) : moved;
  }
  for (const node of nodes) {
    const item = boxes.length + node.id;
    const hidden = !view.weights && (node.kind === "parameter" || node.kind === "buffer");
    standsFor[item] = hidden ? -1 : outerMove(model, standsFor, item, shift);
  }
  standsFor[model.root] = model.root;
  return standsFor;
}

/** Inside a folded block, what was unfolded in the first block counts for all. */
function isUnfolded(view: View, standsFor: Int32Array, head: Item): boolean {
  return view.unfolded.has(head) || view.unfolded.has(standsFor[head] as Item);
}

function outerMove(
  model: GraphModel,
  standsFor: Int32Array,
  item: Item,
  shift: (item: Item, from: number, to: number, fromBox: Item, toBox: Item) => Item,
): Item {
  const outer = model.parent[item] as Item;
  if (outer === model.root) return item;
  const moved = standsFor[outer] as Item;
  if (moved === outer) return item;
  const from = boxAt(model, outer);
  const to = boxAt(model, moved);
  return from && to ? shift(item, from.first, to.first, from.id, to.id) : item;
}

/** The children that are shown of every box, full boxes cut into parts. */
function gather(model: GraphModel, standsFor: Int32Array): Pick<Shown, "children" | "parts"> {
  const children = new Map<Item, readonly Item[]>();
  const parts = new Map<Item, Part>();
  const hasNodes = new Uint8Array(model.root + 1);
  for (const node of model.nodes) {
    let item = model.boxes.length + node.id;
    if (standsFor[item] !== item) continue;
    while (!hasNodes[item]) {
      hasNodes[item] = 1;
      item = model.parent[item] as Item;
    }
  }
  const cut = (box: Item, items: readonly Item[], level: number) => {
    if (items.length <= FULL) return void children.set(box, items);
    const size = Math.max(PART, Math.ceil(items.length / 100));
    const made: Item[] = [];
    for (let at = 0; at < items.length; at += size) {
      const some = items.slice(at, at + size);
      const part = (model.root + 1) * level + (some[0] as Item);
      parts.set(part, { first: at, last: at + some.length - 1, items: some });
      made.push(part);
      cut(part, some, level + 1);
    }
    children.set(box, made);
  };
  for (let box = 0; box <= model.root; box++) {
    const inside = model.children[box] as readonly Item[];
    if (inside.length === 0 || (box !== model.root && !hasNodes[box])) continue;
    cut(
      box,
      inside.filter((item) => standsFor[item] === item && hasNodes[item]),
      1,
    );
  }
  return { children, parts };
}

/**
 * An edge from one folded block into the next is what folding hides; one inside a folded block is seen in the first.
 */
function drawnEnds(model: GraphModel, standsFor: Int32Array, source: number, target: number): [Item, Item] | null {
  const from = model.boxes.length + source;
  const to = model.boxes.length + target;
  const ends: [Item, Item] = [standsFor[from] as Item, standsFor[to] as Item];
  if (ends[0] < 0 || ends[1] < 0 || ends[0] === ends[1]) return null;
  if (ends[0] === from && ends[1] === to) return ends;
  const [left, right] = apart(model, from, to);
  return left !== right && standsFor[left] === standsFor[right]
    ? null
    : insideFolded(model, standsFor, left)
      ? null
      : ends;
}

/** The two items, in the innermost box around both ends, that hold them. */
function apart(model: GraphModel, a: Item, b: Item): [Item, Item] {
  const chain = (item: Item): Item[] => {
    const up = [item];
    for (let at = item; at !== model.root; ) up.push((at = model.parent[at] as Item));
    return up;
  };
  const [up, down] = [chain(a), chain(b)];
  while (up.length > 1 && down.length > 1 && up[up.length - 2] === down[down.length - 2]) {
    up.pop();
    down.pop();
  }
  return [up[up.length - 2] ?? a, down[down.length - 2] ?? b];
}

function insideFolded(model: GraphModel, standsFor: Int32Array, item: Item): boolean {
  const box = model.parent[item] as Item;
  return standsFor[box] !== box;
}

function depths(parent: ReadonlyMap<Item, Item>, root: Item): (item: Item) => number {
  const known = new Map<Item, number>([[root, 0]]);
  const of = (item: Item): number => {
    const seen = known.get(item);
    if (seen !== undefined) return seen;
    const depth = of(parent.get(item) ?? root) + 1;
    known.set(item, depth);
    return depth;
  };
  return of;
}

function around(parent: ReadonlyMap<Item, Item>, depth: (item: Item) => number, a: Item, b: Item): Item {
  let [left, right] = [parent.get(a) as Item, parent.get(b) as Item];
  while (left !== right) {
    if (depth(left) >= depth(right)) left = parent.get(left) as Item;
    else right = parent.get(right) as Item;
  }
  return left;
}

export function isBox(shown: Shown, item: Item): boolean {
  return item !== shown.model.root && (shown.children.get(item)?.length ?? 0) > 0;
}

/** The item on the screen that holds `item`: itself, what it is folded into, or the closed box around it. */
export function seenAs(shown: Shown, open: ReadonlySet<Item>, item: Item): Item | null {
  const start = item > shown.model.root ? item : (shown.standsFor[item] as Item);
  if (start < 0 || (start !== shown.model.root && !shown.parent.has(start))) return null;
  let seen = start;
  for (let at = start; at !== shown.model.root; ) {
    at = shown.parent.get(at) as Item;
    if (at !== shown.model.root && !open.has(at)) seen = at;
  }
  return seen;
}

/** What must be open (and unfolded) for an item to be seen itself. */
export function wayTo(shown: Shown, item: Item): { open: Item[]; unfold: Item[] } {
  const unfold: Item[] = [];
  for (let at: Item = item; at < shown.model.root; at = shown.model.parent[at] as Item) {
    const head = boxAt(shown.model, at)?.fold;
    if (head !== null && head !== undefined && !shown.view.unfolded.has(head)) unfold.push(head);
  }
  const open: Item[] = [];
  for (let at = shown.parent.get(item); at !== undefined && at !== shown.model.root; at = shown.parent.get(at))
    open.push(at);
  return { open, unfold };
}

/** All nodes inside an item, at any depth. */
export function nodesInside(shown: Shown, item: Item): number[] {
  const { model } = shown;
  const box = boxAt(model, item);
  if (box) return Array.from({ length: box.count }, (_, at) => box.first + at);
  if (item === model.root) return model.nodes.map((node) => node.id);
  const part = shown.parts.get(item);
  if (part) return part.items.flatMap((inner) => nodesInside(shown, inner));
  const node = nodeAt(model, item);
  return node ? [node.id] : [];
}
