/**
 * The inside of one box as a small graph of its own: its items, its edges, and ports where edges cross its border.
 * It depends on nothing that is open or closed, so it is made once per box, and only for boxes that are opened.
 */

import type { Item } from "./graph-model";
import type { Shown } from "./graph-shown";

/** A place on the border where edges come in or go out; `edges` are the recorded edges that pass it. */
export interface Port {
  edges: readonly number[];
}

/** Recorded edges between the same two ends are drawn as one. */
export interface LocalEdge {
  from: number;
  to: number;
  edges: number[];
}

/** Ends of edges are numbered: first the items, then the ports going in, then the ports going out. */
export interface LocalGraph {
  box: Item;
  items: readonly Item[];
  ins: readonly Port[];
  outs: readonly Port[];
  edges: readonly LocalEdge[];
}

export interface Ports {
  ins: readonly Port[];
  outs: readonly Port[];
}

/** More than this many ports on one side of a box are drawn as one, since nobody can follow so many lines. */
export const MAX_PORTS = 16;

const NO_PORTS: Ports = { ins: [], outs: [] };

export function localGraph(shown: Shown, box: Item, ports: Ports = NO_PORTS): LocalGraph {
  const items = shown.children.get(box) ?? [];
  const at = new Map(items.map((item, index) => [item, index]));
  const merged = new Map<number, LocalEdge>();
  const count = items.length + ports.ins.length + ports.outs.length;
  const join = (from: number, to: number, edge: number) => {
    const key = from * count + to;
    const known = merged.get(key);
    if (known) known.edges.push(edge);
    else merged.set(key, { from, to, edges: [edge] });
  };
  const endOf = (leaf: Item) => at.get(childToward(shown, box, leaf)) as number;
  for (const edge of shown.edgesIn.get(box) ?? [])
    join(endOf(shown.source[edge] as Item), endOf(shown.target[edge] as Item), edge);
  ports.ins.forEach((port, index) => {
    for (const edge of port.edges) join(items.length + index, endOf(shown.target[edge] as Item), edge);
  });
  ports.outs.forEach((port, index) => {
    for (const edge of port.edges)
      join(endOf(shown.source[edge] as Item), items.length + ports.ins.length + index, edge);
  });
  return { box, items, ins: ports.ins, outs: ports.outs, edges: [...merged.values()] };
}

/** The child of `box` that holds `leaf`. */
function childToward(shown: Shown, box: Item, leaf: Item): Item {
  let item = leaf;
  while (shown.parent.get(item) !== box) item = shown.parent.get(item) as Item;
  return item;
}

/** Where a local edge meets the borders of a child box: its index among the child's ports. */
export interface ChildPorts extends Ports {
  inOf: ReadonlyMap<LocalEdge, number>;
  outOf: ReadonlyMap<LocalEdge, number>;
}

/**
 * The ports of one child, from the edges around it: one for everything that comes from the same neighbour, one for
 * everything that leaves from the same places inside, however many neighbours it goes to.
 */
export function portsOf(shown: Shown, graph: LocalGraph, child: number): ChildPorts {
  const arriving = graph.edges.filter((edge) => edge.to === child);
  const leaving = graph.edges.filter((edge) => edge.from === child);
  const ins =
    arriving.length > MAX_PORTS ? grouped(arriving, () => "all") : grouped(arriving, (edge) => String(edge.from));
  const outs = grouped(leaving, (edge) => sourcesOf(shown, edge));
  const few = outs.ports.length > MAX_PORTS ? grouped(leaving, () => "all") : outs;
  return { ins: ins.ports, outs: few.ports, inOf: ins.index, outOf: few.index };
}

function sourcesOf(shown: Shown, edge: LocalEdge): string {
  return [...new Set(edge.edges.map((one) => shown.source[one] as Item))].sort((a, b) => a - b).join(" ");
}

function grouped(edges: readonly LocalEdge[], keyOf: (edge: LocalEdge) => string) {
  const ports: { edges: number[] }[] = [];
  const places = new Map<string, number>();
  const index = new Map<LocalEdge, number>();
  for (const edge of edges) {
    const key = keyOf(edge);
    const place = places.get(key) ?? ports.length;
    if (place === ports.length) {
      places.set(key, place);
      ports.push({ edges: [] });
    }
    ports[place]?.edges.push(...edge.edges);
    index.set(edge, place);
  }
  // One tensor that goes to several neighbours passes the border once, but each of its edges is kept for highlighting.
  return { ports, index };
}
