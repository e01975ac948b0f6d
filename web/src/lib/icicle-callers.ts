/** The tree the other way round: functions by their own time, and under each those that called it. */

import { layOut, type Tree } from "./icicle-tree";

/** Nodes with less than this share of all own time are put together, so that a huge tree turns quickly. */
const LEAST_SHARE = 1e-5;

/** The callers of every function, or of one only; of the calls under one node (-1: of all). */
export function callersOf(tree: Tree, only: number | null = null, under = -1): Tree {
  const builder = new Builder(tree.stack.names.length);
  const weights = inside(tree, only === null ? tree.own : outermost(tree, only), under);
  const whole = weights.reduce((sum, weight) => sum + Math.max(0, weight), 0);
  for (let node = 0; node < tree.parent.length; node++) {
    const weight = weights[node] as number;
    if (!(weight > 0)) continue;
    const calls = tree.calls?.[node] ?? 0;
    let at = builder.add(-1, tree.name[node] as number, weight, calls);
    builder.own[at] = (builder.own[at] as number) + weight;
    if (weight < whole * LEAST_SHARE) continue;
    for (let up = tree.parent[node] as number; up >= 0 && up !== under; up = tree.parent[up] as number) at = builder.add(at, tree.name[up] as number, weight, calls);
  }
  return layOut(tree.stack, { ...builder, calls: tree.calls ? builder.calls : null });
}

/** The weights of what hangs under a node; nothing for the others. */
function inside(tree: Tree, weights: Float64Array, under: number): Float64Array {
  if (under < 0) return weights;
  const held = new Uint8Array(weights.length);
  return weights.map((weight, node) => {
    const above = tree.parent[node] as number;
    held[node] = node === under || (above >= 0 && held[above] === 1) ? 1 : 0;
    return held[node] && node !== under ? weight : 0;
  });
}

/** The total time of one function's calls that no other call of it is around. */
function outermost(tree: Tree, name: number): Float64Array {
  const weights = new Float64Array(tree.parent.length);
  const within = new Uint8Array(tree.parent.length);
  for (let node = 0; node < weights.length; node++) {
    const above = tree.parent[node] as number;
    const held = above >= 0 && within[above] === 1;
    const is = tree.name[node] === name;
    within[node] = held || is ? 1 : 0;
    if (is && !held) weights[node] = tree.total[node] as number;
  }
  return weights;
}

class Builder {
  readonly parent: number[] = [];
  readonly name: number[] = [];
  readonly total: number[] = [];
  readonly own: number[] = [];
  readonly calls: number[] = [];
  private readonly known = new Map<number, number>();
  constructor(private readonly names: number) {}

  /** The node of this name under another, with more time. */
  add(parent: number, name: number, weight: number, calls: number): number {
    const key = (parent + 1) * this.names + name;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.parent.length;
      this.known.set(key, node);
      this.parent.push(parent);
      this.name.push(name);
      this.total.push(0);
      this.own.push(0);
      this.calls.push(0);
    }
    this.total[node] = (this.total[node] as number) + weight;
    this.calls[node] = (this.calls[node] as number) + calls;
    return node;
  }
}
