/** A call tree laid out: each node's place between 0 and 1 under its caller, the largest first. */

import type { Stack } from "./schema";

export interface Tree {
  stack: Stack;
  /** Of each node: its caller, -1 for a root; callers come before what they call. */
  parent: Int32Array;
  /** Into the stack's names, files and lines. */
  name: Int32Array;
  total: Float64Array;
  own: Float64Array;
  calls: Float64Array | null;
  depth: Int32Array;
  from: Float64Array;
  to: Float64Array;
  /** Of each depth its nodes, from left to right. */
  rows: Int32Array[];
  /** The time of all roots together. */
  whole: number;
}

export interface Nodes {
  parent: ArrayLike<number>;
  name: ArrayLike<number>;
  total: ArrayLike<number>;
  own: ArrayLike<number>;
  calls: ArrayLike<number> | null;
}

export function treeOf(stack: Stack): Tree {
  const calls = stack.calls && stack.calls.length > 0 ? stack.calls : null;
  return layOut(stack, { parent: stack.parent, name: stack.name, total: stack.total, own: stack.own, calls });
}

/** Places the nodes; children that together are longer than their caller are made narrower in proportion. */
export function layOut(stack: Stack, nodes: Nodes): Tree {
  const size = nodes.parent.length;
  const parent = Int32Array.from(nodes.parent);
  const total = Float64Array.from(nodes.total, (value) => (value > 0 ? value : 0));
  const { flat, first } = childrenOf(parent, total);
  const depth = new Int32Array(size);
  const [from, to] = [new Float64Array(size), new Float64Array(size)];
  /** Places the children of a node (-1: the roots) from `left` on, none beyond `width`; returns their time. */
  const place = (node: number, left: number, width: number, per: number): number => {
    const [begin, end] = [first[node + 1] as number, first[node + 2] as number];
    let inside = 0;
    for (let at = begin; at < end; at++) inside += total[flat[at] as number] as number;
    const scale = inside > 0 ? Math.min(per || 1 / inside, width / inside) : 0;
    for (let at = begin; at < end; at++) {
      const child = flat[at] as number;
      from[child] = left;
      left += (total[child] as number) * scale;
      to[child] = left;
    }
    return inside;
  };
  const whole = place(-1, 0, 1, 0) || 1;
  const rows: Int32Array[] = [];
  let row = flat.slice(first[0], first[1]);
  while (row.length > 0) {
    let count = 0;
    for (const node of row) {
      depth[node] = rows.length;
      place(node, from[node] as number, (to[node] as number) - (from[node] as number), 1 / whole);
      count += (first[node + 2] as number) - (first[node + 1] as number);
    }
    const next = new Int32Array(count);
    let at = 0;
    for (const node of row) {
      const own = flat.subarray(first[node + 1], first[node + 2]);
      next.set(own, at);
      at += own.length;
    }
    rows.push(row);
    row = next;
  }
  return {
    stack,
    parent,
    name: Int32Array.from(nodes.name),
    total,
    own: Float64Array.from(nodes.own),
    calls: nodes.calls ? Float64Array.from(nodes.calls) : null,
    depth,
    from,
    to,
    rows,
    whole,
  };
}

/**
 * The children of node n are `flat[first[n + 1]]` to `flat[first[n + 2]]`, the longest first; the roots are those of
 * -1.
 */
function childrenOf(parent: Int32Array, total: Float64Array): { flat: Int32Array; first: Int32Array } {
  const first = new Int32Array(parent.length + 2);
  for (const above of parent) first[above + 2] = (first[above + 2] as number) + 1;
  for (let at = 1; at < first.length; at++) first[at] = (first[at] as number) + (first[at - 1] as number);
  const slots = first.slice();
  const flat = new Int32Array(parent.length);
  for (let node = 0; node < parent.length; node++) {
    const slot = (parent[node] as number) + 1;
    flat[slots[slot] as number] = node;
    slots[slot] = (slots[slot] as number) + 1;
  }
  const longer = (a: number, b: number) => (total[b] as number) - (total[a] as number) || a - b;
  for (let node = 0; node + 1 < first.length; node++) {
    const [begin, end] = [first[node] as number, first[node + 1] as number];
    if (end - begin > 1) flat.subarray(begin, end).sort(longer);
  }
  return { flat, first };
}

/** The node and its callers, from the root on. */
export function pathTo(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at >= 0; at = tree.parent[at] as number) path.unshift(at);
  return path;
}

/** The node of a row at a place between 0 and 1, or -1. */
export function nodeAt(tree: Tree, depth: number, x: number): number {
  const row = tree.rows[depth];
  if (!row) return -1;
  const at = lastFrom(tree, row, x);
  const node = row[at] ?? -1;
  return node >= 0 && x < (tree.to[node] as number) ? node : -1;
}

/** The position of the last node of a row that begins at or before a place; -1 for none. */
export function lastFrom(tree: Tree, row: Int32Array, x: number): number {
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tree.from[row[middle] as number] as number) <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export interface FunctionTime {
  name: number;
  own: number;
  /** Counted once where it calls itself, directly or not. */
  total: number;
  calls: number;
}

/** Every function in a part of the tree (-1: all of it), the one with the most own time first. */
export function functionsIn(tree: Tree, root: number): FunctionTime[] {
  const size = tree.stack.names.length;
  const [own, total, calls, seen] = [
    new Float64Array(size),
    new Float64Array(size),
    new Float64Array(size),
    new Uint8Array(size),
  ];
  const inside = new Uint8Array(tree.parent.length);
  for (let node = 0; node < tree.parent.length; node++) {
    const above = tree.parent[node] as number;
    inside[node] = root < 0 || node === root || (above >= 0 && inside[above] === 1) ? 1 : 0;
    if (!inside[node]) continue;
    const name = tree.name[node] as number;
    seen[name] = 1;
    own[name] = (own[name] as number) + (tree.own[node] as number);
    calls[name] = (calls[name] as number) + (tree.calls?.[node] ?? 0);
    if (!hasAbove(tree, node, name, root)) total[name] = (total[name] as number) + (tree.total[node] as number);
  }
  const found: FunctionTime[] = [];
  for (let name = 0; name < size; name++)
    if (seen[name])
      found.push({ name, own: own[name] as number, total: total[name] as number, calls: calls[name] as number });
  return found.sort((a, b) => b.own - a.own || b.total - a.total);
}

function hasAbove(tree: Tree, node: number, name: number, root: number): boolean {
  for (let at = node; at !== root; ) {
    at = tree.parent[at] as number;
    if (at < 0) return false;
    if (tree.name[at] === name) return true;
  }
  return false;
}
