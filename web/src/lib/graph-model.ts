/**
 * The graph of a recorded step as the viewer needs it. Boxes, nodes and the step itself are *items*, numbered in one
 * row: boxes as the server numbers them, then nodes, then the root around all of them.
 */

import type { GraphBox, GraphData, GraphEdge, GraphNode, GraphTensor, Site, Stats } from "./schema";

export type Item = number;
/** The wire leaves out what is at its default; here everything is there. */
type Full<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };
export type Box = Full<GraphBox>;
export type Node = Full<GraphNode>;
export type Edge = Full<GraphEdge>;
export type Tensor = Full<GraphTensor>;

export type { Stats };

export interface GraphModel {
  data: GraphData;
  boxes: readonly Box[];
  nodes: readonly Node[];
  edges: readonly Edge[];
  tensors: readonly Tensor[];
  sites: readonly Site[];
  root: Item;
  /** The item around each item; the root has itself. */
  parent: Int32Array;
  /** What lies directly in each box (and in the root), in the order it ran. */
  children: readonly (readonly Item[])[];
  /** The recorded edges that arrive at and leave from each node, by the node's number. */
  arriving: readonly (readonly number[])[];
  leaving: readonly (readonly number[])[];
}

const BOX = {
  parent: null,
  path: null,
  type: "",
  call: 0,
  calls: 1,
  phase: "forward",
  extra: "",
  site: null,
  first: 0,
  count: 0,
  boxes: 0,
  ops: 0,
  parameters: 0,
  time_us: null,
  flops: null,
  saved_bytes: 0,
  nonfinite: false,
  repeat: 1,
  fold: null,
  open: false,
  error: null,
} as const; // prettier-ignore
const NODE = {
  kind: "op",
  box: null,
  phase: "forward",
  op: null,
  args: "",
  site: null,
  time_us: null,
  flops: null,
  saved_bytes: 0,
  nonfinite: false,
  inplace: false,
  view: false,
  forward: null,
  error: null,
} as const; // prettier-ignore
const TENSOR = { name: null, kind: "intermediate", bytes: 0, requires_grad: false } as const;

export function readGraph(data: GraphData): GraphModel {
  const boxes = (data.boxes ?? []).map((box) => ({ ...BOX, outputs: [], ...box }) as Box);
  const nodes = (data.nodes ?? []).map((node) => ({ ...NODE, outputs: [], stats: [], ...node }) as Node);
  const edges = (data.edges ?? []).map((edge) => ({ version: 0, ...edge }) as Edge);
  const tensors = (data.tensors ?? []).map((tensor) => ({ ...TENSOR, ...tensor }) as Tensor);
  const root = boxes.length + nodes.length;
  const parent = new Int32Array(root + 1).fill(root);
  const children: Item[][] = Array.from({ length: root + 1 }, () => []);
  for (const box of boxes) parent[box.id] = box.parent ?? root;
  for (const node of nodes) parent[boxes.length + node.id] = node.box ?? root;
  for (let item = 0; item < root; item++) children[parent[item] as Item]?.push(item);
  const model = { data, boxes, nodes, edges, tensors, sites: data.sites ?? [], root, parent, children };
  for (const inside of children) if (inside.length > 1) inside.sort((a, b) => startOf(model, a) - startOf(model, b));
  const arriving: number[][] = nodes.map(() => []);
  const leaving: number[][] = nodes.map(() => []);
  edges.forEach((edge, at) => {
    leaving[edge.source]?.push(at);
    arriving[edge.target]?.push(at);
  });
  return { ...model, arriving, leaving };
}

/** Nodes are numbered as they ran inside their box, so the first node of a box says where the box stands. */
function startOf(model: Pick<GraphModel, "boxes">, item: Item): number {
  return model.boxes[item]?.first ?? item - model.boxes.length;
}

export function boxAt(model: GraphModel, item: Item): Box | null {
  return model.boxes[item] ?? null;
}

export function nodeAt(model: GraphModel, item: Item): Node | null {
  return model.nodes[item - model.boxes.length] ?? null;
}

export function itemOfNode(model: GraphModel, node: number): Item {
  return model.boxes.length + node;
}

/** The boxes around an item, the outermost first, without the item itself. */
export function boxesAround(model: GraphModel, item: Item): Item[] {
  const around: Item[] = [];
  for (let at = item; at !== model.root; ) {
    at = model.parent[at] as Item;
    if (at !== model.root) around.unshift(at);
  }
  return around;
}

/** The boxes that the server wants open at first. */
export function openAtFirst(model: GraphModel): Set<Item> {
  return new Set(model.boxes.filter((box) => box.open).map((box) => box.id));
}

/** The blocks that a folded block stands for, itself among them. */
export function foldedInto(model: GraphModel, head: Item): Box[] {
  const box = model.boxes[head];
  if (!box || box.repeat < 2) return box ? [box] : [];
  return [box, ...model.boxes.filter((other) => other.fold === head)];
}
