/** One layout to be made, and what comes of it: the words between the page and whoever lays out. */

/** What has to be placed. Ends of edges are numbered: items, then ports going in, then ports going out. */
export interface Plan {
  /** Width and height of each item, in turn. */
  sizes: readonly number[];
  ins: number;
  outs: number;
  /** From, to and the width of the label (0: none) of each edge, in turn. */
  edges: readonly number[];
}

/** Where everything lies, from the top left corner of the box's inside. */
export interface Placed {
  width: number;
  height: number;
  /** Left and top of each item, in turn. */
  corners: number[];
  /** How far from the left each port is. */
  ins: number[];
  outs: number[];
  /** The bends of each edge as x, y, x, y …, from border to border. */
  bends: number[][];
  /** The middle of each edge's label as x, y, or nothing. */
  labels: (readonly [number, number] | null)[];
}

export const LABEL_HEIGHT = 14;
/** Equal plans have equal layouts: this is the key of the cache. */
export function planKey(plan: Plan): string {
  return `${plan.ins}.${plan.outs}|${plan.sizes.join(",")}|${plan.edges.join(",")}`;
}
