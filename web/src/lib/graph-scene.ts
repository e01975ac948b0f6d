/** Everything that is on the drawing, with its place: open boxes are laid out one at a time, from the inside out. */

import type { Placed, Plan } from "./graph-plan";
import { type ChildPorts, localGraph, type LocalEdge, type LocalGraph, portsOf, type Ports } from "./graph-local";
import type { Item } from "./graph-model";
import type { Shown } from "./graph-shown";
import { edgeText } from "./graph-words";

export interface SceneItem {
  item: Item;
  x: number;
  y: number;
  w: number;
  h: number;
  open: boolean;
  depth: number;
}

export interface SceneEdge {
  /** Stays the same while both ends are on the drawing, so that an edge moves instead of appearing anew. */
  key: string;
  /** The ends, where they are items of the same box; null for a port on the border of the box around. */
  from: Item | null;
  to: Item | null;
  /** x, y, x, y … */
  bends: number[];
  /** The recorded edges it stands for. */
  edges: readonly number[];
  label: { x: number; y: number; text: string } | null;
  /** Ends at the border of an open box: the edge goes on inside, so it has no arrow there. */
  goesOn: boolean;
}

export interface Scene {
  width: number;
  height: number;
  items: readonly SceneItem[];
  edges: readonly SceneEdge[];
}

/** How large things are before they are placed. */
export interface Sizes {
  closed(item: Item): { w: number; h: number };
  /** How wide an open box must be at least, for its heading. */
  heading(item: Item): number;
  label(text: string): number;
}

export const HEADING = 30;
export const PAD = 16;

interface Laid {
  graph: LocalGraph;
  placed: Placed;
  texts: readonly string[];
  inner: ReadonlyMap<number, { laid: Laid; ports: ChildPorts }>;
  sizes: readonly number[];
}

/** `place` runs one layout, in a worker or not; equal plans are laid out once. */
export async function layScene(
  shown: Shown,
  open: ReadonlySet<Item>,
  sizes: Sizes,
  place: (plan: Plan) => Promise<Placed>,
): Promise<Scene> {
  const root = await layBox(shown, shown.model.root, { ins: [], outs: [] }, open, sizes, place);
  const items: SceneItem[] = [];
  const edges: SceneEdge[] = [];
  compose(shown, root, 0, 0, 1, items, edges);
  return { width: root.placed.width, height: root.placed.height, items, edges };
}

async function layBox(
  shown: Shown,
  box: Item,
  ports: Ports,
  open: ReadonlySet<Item>,
  sizes: Sizes,
  place: (plan: Plan) => Promise<Placed>,
): Promise<Laid> {
  const graph = localGraph(shown, box, ports);
  const inner = new Map<number, { laid: Laid; ports: ChildPorts }>();
  await Promise.all(
    graph.items.map(async (item, at) => {
      if (!open.has(item) || !shown.children.has(item)) return;
      const own = portsOf(shown, graph, at);
      inner.set(at, { ports: own, laid: await layBox(shown, item, own, open, sizes, place) });
    }),
  );
  const texts = labelsOf(shown, graph);
  const dimensions = graph.items.flatMap((item, at) => {
    const inside = inner.get(at)?.laid.placed;
    if (!inside) {
      const { w, h } = sizes.closed(item);
      return [w, h];
    }
    return [Math.max(sizes.heading(item), inside.width + 2 * PAD), HEADING + inside.height + 2 * PAD];
  });
  const plan: Plan = {
    sizes: dimensions,
    ins: graph.ins.length,
    outs: graph.outs.length,
    edges: graph.edges.flatMap((edge, at) => [edge.from, edge.to, texts[at] ? sizes.label(texts[at]) : 0]),
  };
  return { graph, inner, texts, sizes: dimensions, placed: await place(plan) };
}

/** A tensor that goes to several readers is labelled once; what leaves the box is labelled outside it. */
function labelsOf(shown: Shown, graph: LocalGraph): string[] {
  const firstOut = graph.items.length + graph.ins.length;
  const said = new Set<string>();
  return graph.edges.map((edge) => {
    if (edge.to >= firstOut) return "";
    const text = edgeText(shown.model, edge.edges);
    const key = `${edge.from} ${text}`;
    if (said.has(key)) return "";
    said.add(key);
    return text;
  });
}

function compose(
  shown: Shown,
  laid: Laid,
  x: number,
  y: number,
  depth: number,
  items: SceneItem[],
  edges: SceneEdge[],
): void {
  const { graph, placed } = laid;
  const corner = (at: number): [number, number] => [
    x + (placed.corners[2 * at] as number),
    y + (placed.corners[2 * at + 1] as number),
  ];
  graph.items.forEach((item, at) => {
    const [left, top] = corner(at);
    const inside = laid.inner.get(at);
    const [w, h] = [laid.sizes[2 * at] as number, laid.sizes[2 * at + 1] as number];
    items.push({ item, x: left, y: top, w, h, open: inside !== undefined, depth });
    if (!inside) return;
    const slack = (w - 2 * PAD - inside.laid.placed.width) / 2;
    compose(shown, inside.laid, left + PAD + slack, top + HEADING + PAD, depth + 1, items, edges);
  });
  graph.edges.forEach((edge, at) => edges.push(route(laid, edge, at, x, y, corner)));
}

/** The bends dagre found, moved to the drawing, with their ends on the ports of open boxes. */
function route(
  laid: Laid,
  edge: LocalEdge,
  at: number,
  x: number,
  y: number,
  corner: (at: number) => [number, number],
): SceneEdge {
  const { graph, placed } = laid;
  const bends = (placed.bends[at] ?? []).map((value, index) => value + (index % 2 === 0 ? x : y));
  const count = graph.items.length;
  const firstOut = count + graph.ins.length;
  const portX = (inside: { laid: Laid }, item: number, offset: number): number => {
    const slack = ((laid.sizes[2 * item] as number) - 2 * PAD - inside.laid.placed.width) / 2;
    return corner(item)[0] + PAD + slack + offset;
  };
  const start = laid.inner.get(edge.from);
  if (start) {
    const port = start.ports.outOf.get(edge) ?? 0;
    bends[0] = portX(start, edge.from, start.laid.placed.outs[port] ?? 0);
    bends[1] = corner(edge.from)[1] + (laid.sizes[2 * edge.from + 1] as number);
  } else if (edge.from >= count) {
    bends.unshift(x + (placed.ins[edge.from - count] as number), y - PAD);
  }
  const end = laid.inner.get(edge.to);
  if (end) {
    const port = end.ports.inOf.get(edge) ?? 0;
    bends[bends.length - 2] = portX(end, edge.to, end.laid.placed.ins[port] ?? 0);
    bends[bends.length - 1] = corner(edge.to)[1];
  } else if (edge.to >= firstOut) {
    bends.push(x + (placed.outs[edge.to - firstOut] as number), y + placed.height + PAD);
  }
  const middle = placed.labels[at];
  const text = laid.texts[at] ?? "";
  const from = edge.from < count ? (graph.items[edge.from] as Item) : null;
  const to = edge.to < count ? (graph.items[edge.to] as Item) : null;
  return {
    key: `${graph.box}:${from ?? `i${edge.from - count}`}:${to ?? `o${edge.to - firstOut}`}`,
    from,
    to,
    bends,
    edges: edge.edges,
    label: middle && text ? { x: x + middle[0], y: y + middle[1], text } : null,
    goesOn: end !== undefined || to === null,
  };
}

/** A smooth line through all bends that leaves and arrives vertically and never swings beyond them. */
export function curve(bends: readonly number[]): string {
  const n = bends.length / 2;
  if (n < 2) return "";
  const px = (at: number) => bends[2 * at] as number;
  const py = (at: number) => bends[2 * at + 1] as number;
  const lean = (at: number): number => {
    if (at <= 0 || at >= n - 1) return 0;
    const before = (px(at) - px(at - 1)) / (py(at) - py(at - 1) || 1);
    const after = (px(at + 1) - px(at)) / (py(at + 1) - py(at) || 1);
    return before * after <= 0 ? 0 : (2 * before * after) / (before + after);
  };
  let path = `M${px(0)} ${py(0)}`;
  for (let at = 1; at < n; at++) {
    const third = (py(at) - py(at - 1)) / 3;
    const [x1, y1] = [px(at - 1) + lean(at - 1) * third, py(at - 1) + third];
    const [x2, y2] = [px(at) - lean(at) * third, py(at) - third];
    path += `C${fixed(x1)} ${fixed(y1)} ${fixed(x2)} ${fixed(y2)} ${px(at)} ${py(at)}`;
  }
  return path;
}

function fixed(value: number): number {
  return Math.round(value * 10) / 10;
}
