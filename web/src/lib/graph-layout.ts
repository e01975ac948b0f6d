/**
 * Places the items of one box with dagre. Pure numbers in, pure numbers out, so that it runs in a worker or anywhere.
 */

import { Graph, layout } from "@dagrejs/dagre";
import { LABEL_HEIGHT, type Placed, type Plan } from "./graph-plan";

const PORT_WIDTH = 8;
const SPACES = { nodesep: 22, edgesep: 14, ranksep: 18, marginx: 0, marginy: 0, rankdir: "TB" } as const;
/** Pulls ports to the border, whatever the edges inside would like better. */
const HOLD = 1000;

interface Node {
  x: number;
  y: number;
  width: number;
  height: number;
}

export function placePlan(plan: Plan): Placed {
  const items = plan.sizes.length / 2;
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ ...SPACES });
  for (let at = 0; at < items; at++)
    graph.setNode(String(at), { width: plan.sizes[2 * at], height: plan.sizes[2 * at + 1] });
  for (let at = items; at < items + plan.ins + plan.outs; at++)
    graph.setNode(String(at), { width: PORT_WIDTH, height: 1 });
  for (let at = 0; at < plan.edges.length; at += 3) {
    const label = plan.edges[at + 2] as number;
    const size = label > 0 ? { width: label, height: LABEL_HEIGHT } : { width: 0, height: 0 };
    graph.setEdge(
      String(plan.edges[at]),
      String(plan.edges[at + 1]),
      { ...size, labelpos: "c", weight: 1 },
      String(at),
    );
  }
  holdPorts(graph, plan, items);
  layout(graph);
  return inOrder(read(graph, plan, items), plan.sizes);
}

/** Ports going in stay above all items and ports going out below, so that no line crosses an item to reach one. */
function holdPorts(graph: Graph, plan: Plan, items: number): void {
  const edge = (from: string, to: string, weight: number, minlen: number) =>
    graph.setEdge(from, to, { width: 0, height: 0, weight, minlen, labelpos: "c" }, `hold ${from} ${to}`);
  const all = Array.from({ length: items }, (_, at) => String(at));
  const first = all.filter((name) => (graph.inEdges(name) ?? []).length === 0);
  const last = all.filter((name) => (graph.outEdges(name) ?? []).length === 0);
  if (plan.ins > 0) {
    graph.setNode("top", { width: 0, height: 0 });
    for (let port = items; port < items + plan.ins; port++) edge("top", String(port), HOLD, 1);
    for (const name of first) edge("top", name, 0, 2);
  }
  if (plan.outs > 0) {
    graph.setNode("bottom", { width: 0, height: 0 });
    for (let port = items + plan.ins; port < items + plan.ins + plan.outs; port++)
      edge(String(port), "bottom", HOLD, 1);
    for (const name of last) edge(name, "bottom", 0, 2);
  }
}

function read(graph: Graph, plan: Plan, items: number): Placed {
  const nodeOf = (at: number) => graph.node(String(at)) as unknown as Node;
  const ports = plan.ins + plan.outs;
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  const cover = (left: number, top: number, right: number, bottom: number) => {
    box.left = Math.min(box.left, left);
    box.right = Math.max(box.right, right);
    box.top = Math.min(box.top, top);
    box.bottom = Math.max(box.bottom, bottom);
  };
  for (let at = 0; at < items; at++) {
    const { x, y, width, height } = nodeOf(at);
    cover(x - width / 2, y - height / 2, x + width / 2, y + height / 2);
  }
  for (let at = items; at < items + ports; at++) {
    const { x, y } = nodeOf(at);
    cover(x - PORT_WIDTH / 2, y, x + PORT_WIDTH / 2, y);
  }
  const routes = routesOf(graph, plan);
  for (const { points, label } of routes) {
    for (const { x, y } of points) cover(x, y, x, y);
    if (label) cover(label.x - label.width / 2, label.y, label.x + label.width / 2, label.y);
  }
  if (items + ports === 0) cover(0, 0, 0, 0);
  const placed: Placed = {
    width: Math.ceil(box.right - box.left),
    height: Math.ceil(box.bottom - box.top),
    corners: [],
    ins: [],
    outs: [],
    bends: routes.map(({ points }) => points.flatMap(({ x, y }) => [round(x - box.left), round(y - box.top)])),
    labels: routes.map(({ label }) => (label ? [round(label.x - box.left), round(label.y - box.top)] : null)),
  };
  for (let at = 0; at < items; at++) {
    const { x, y, width, height } = nodeOf(at);
    placed.corners.push(round(x - width / 2 - box.left), round(y - height / 2 - box.top));
  }
  for (let at = 0; at < ports; at++)
    (at < plan.ins ? placed.ins : placed.outs).push(round(nodeOf(items + at).x - box.left));
  return placed;
}

/** Either side of a layout is as good as its mirror image, but what ran first should stand on the left. */
function inOrder(placed: Placed, sizes: readonly number[]): Placed {
  let rising = 0;
  const before = new Map<number, number>();
  for (let at = 0; at < sizes.length; at += 2) {
    const [x, y] = [placed.corners[at] as number, placed.corners[at + 1] as number];
    const left = before.get(y);
    if (left !== undefined) rising += Math.sign(x - left);
    before.set(y, x);
  }
  if (rising >= 0) return placed;
  const flip = (x: number) => placed.width - x;
  return {
    ...placed,
    corners: placed.corners.map((value, at) => (at % 2 === 0 ? flip(value + (sizes[at] as number)) : value)),
    ins: placed.ins.map(flip),
    outs: placed.outs.map(flip),
    bends: placed.bends.map((bends) => bends.map((value, at) => (at % 2 === 0 ? flip(value) : value))),
    labels: placed.labels.map((label) => label && [flip(label[0]), label[1]]),
  };
}

interface Route {
  points: { x: number; y: number }[];
  label: { x: number; y: number; width: number } | null;
}

function routesOf(graph: Graph, plan: Plan): Route[] {
  const routes: Route[] = [];
  for (let at = 0; at < plan.edges.length; at += 3) {
    const edge = graph.edge(String(plan.edges[at]), String(plan.edges[at + 1]), String(at)) as unknown as {
      points?: { x: number; y: number }[];
      x?: number;
      y?: number;
    };
    const width = plan.edges[at + 2] as number;
    const label = width > 0 && edge.x !== undefined && edge.y !== undefined ? { x: edge.x, y: edge.y, width } : null;
    routes.push({ points: edge.points ?? [], label });
  }
  return routes;
}

function round(value: number): number {
  return Math.round(value * 2) / 2;
}
