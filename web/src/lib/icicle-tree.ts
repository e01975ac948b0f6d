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
  const children = childrenOf(parent, total);
  const depth = new Int32Array(size);
  const [from, to] = [new Float64Array(size), new Float64Array(size)];
  const whole = children.roots.reduce((sum, node) => sum + (total[node] as number), 0) || 1;
  const rows: number[][] = [];
  const place = (nodes: Iterable<number>, left: number, scale: number) => {
    for (const node of nodes) {
      from[node] = left;
      left += (total[node] as number) * scale;
      to[node] = left;
    }
  };
  place(children.roots, 0, 1 / whole);
  let row = children.roots;
  while (row.length > 0) {
    const next: number[] = [];
    for (const node of row) {
      depth[node] = rows.length;
      const own = children.of(node);
      const inside = own.reduce((sum, child) => sum + (total[child] as number), 0);
      const width = (to[node] as number) - (from[node] as number);
      const scale = inside > 0 ? Math.min(1 / whole, width / inside) : 0;
      place(own, from[node] as number, scale);
      for (const child of own) next.push(child);
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
    rows: rows.map((nodes) => Int32Array.from(nodes)),
    whole,
  };
}

function childrenOf(parent: Int32Array, total: Float64Array): { roots: number[]; of(node: number): number[] } {
  const order = Array.from(parent, (_, node) => node).sort((a, b) => (total[b] as number) - (total[a] as number));
  const first = new Int32Array(parent.length + 2);
  for (const above of parent) (first[above + 2] as number)++;
  for (let at = 1; at < first.length; at++) first[at] = (first[at] as number) + (first[at - 1] as number);
  const slots = first.slice();
  const flat = new Int32Array(parent.length);
  for (const node of order) {
    const slot = (parent[node] as number) + 1;
    flat[slots[slot] as number] = node;
    slots[slot] = (slots[slot] as number) + 1;
  }
  const of = (node: number) => Array.from(flat.subarray(first[node + 1], first[node + 2]));
  return { roots: of(-1), of };
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
  const [own, total, calls, seen] = [new Float64Array(size), new Float64Array(size), new Float64Array(size), new Uint8Array(size)];
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
  for (let name = 0; name < size; name++) if (seen[name]) found.push({ name, own: own[name] as number, total: total[name] as number, calls: calls[name] as number });
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
