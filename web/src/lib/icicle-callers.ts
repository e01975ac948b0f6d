/** The tree the other way round: functions by their own time, and under each those that called it. */

import { layOut, type Tree } from "./icicle-tree";

/** Callers with less than this share of the time are not followed further up: they are far narrower than a pixel. */
const LEAST_SHARE = 2e-5;

/** The callers of every function, or of one only; of the calls under one node (-1: of all). */
export function callersOf(tree: Tree, only: number | null = null, under = -1): Tree {
  const builder = new Builder(tree.stack.names.length);
  const weights = inside(tree, only === null ? tree.own : outermost(tree, only), under);
  const least = weights.reduce((sum, weight) => sum + Math.max(0, weight), 0) * LEAST_SHARE;
  /** Where each call was counted last, and the caller that is next: all calls go up one level at a time. */
  let nodes = Int32Array.from(weights.keys()).filter((node) => (weights[node] as number) > 0);
  let ups = nodes.slice();
  let ats = new Int32Array(nodes.length).fill(-1);
  for (let level = 0; nodes.length > 0; level++) {
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i] as number;
      ats[i] = builder.add(
        ats[i] as number,
        tree.name[ups[i] as number] as number,
        weights[node] as number,
        tree.calls?.[node] ?? 0,
        level === 0,
      );
      const up = tree.parent[ups[i] as number] as number;
      ups[i] = up === under ? -1 : up;
    }
    const goesOn = nodes
      .map((_, i) => ((ups[i] as number) >= 0 && (builder.total[ats[i] as number] as number) >= least ? i : -1))
      .filter((i) => i >= 0);
    [nodes, ups, ats] = [
      goesOn.map((i) => nodes[i] as number),
      goesOn.map((i) => ups[i] as number),
      goesOn.map((i) => ats[i] as number),
    ];
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
  add(parent: number, name: number, weight: number, calls: number, own: boolean): number {
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
    if (own) this.own[node] = (this.own[node] as number) + weight;
    return node;
  }
}
