/** Places runs and artifacts from left to right: what made what, and what was made of it. */

import { Graph, layout } from "@dagrejs/dagre";
import type { LineageGraph, LineageNode } from "./schema";

export const BOX = { width: 180, height: 44 } as const;
const MARGIN = 8;

export interface PlacedNode {
  node: LineageNode;
  left: number;
  top: number;
}

export interface PlacedLineage {
  nodes: PlacedNode[];
  /** Lines as paths of an SVG. */
  lines: { key: string; path: string }[];
  width: number;
  height: number;
}

export function placeLineage({ nodes, edges }: Pick<LineageGraph, "nodes" | "edges">): PlacedLineage {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 44, marginx: MARGIN, marginy: MARGIN });
  for (const node of nodes) graph.setNode(node.id, { ...BOX });
  for (const { source, target } of edges) graph.setEdge(source, target, {});
  layout(graph);
  const placed = nodes.map((node) => {
    const { x, y } = graph.node(node.id) as unknown as { x: number; y: number };
    return { node, left: x - BOX.width / 2, top: y - BOX.height / 2 };
  });
  const lines = edges.map(({ source, target }) => {
    const { points } = graph.edge(source, target) as unknown as { points: { x: number; y: number }[] };
    return { key: `${source}\n${target}`, path: pathOf(points) };
  });
  const width = Math.max(0, ...placed.map((one) => one.left + BOX.width)) + MARGIN;
  const height = Math.max(0, ...placed.map((one) => one.top + BOX.height)) + MARGIN;
  return { nodes: placed, lines, width, height };
}

const pathOf = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
