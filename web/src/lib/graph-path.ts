/** What a choice depends on and what depends on it, along the recorded edges. */

import type { GraphModel, Item } from "./graph-model";
import { nodesInside, type Shown } from "./graph-shown";

export type Direction = "up" | "down" | "both";

export interface Path {
  nodes: ReadonlySet<number>;
  edges: ReadonlySet<number>;
}

export function pathOf(shown: Shown, item: Item, direction: Direction): Path {
  const start = nodesInside(shown, item);
  const nodes = new Set(start);
  const edges = new Set<number>();
  if (direction !== "down") follow(shown.model, start, "up", nodes, edges);
  if (direction !== "up") follow(shown.model, start, "down", nodes, edges);
  return { nodes, edges };
}

function follow(
  model: GraphModel,
  start: readonly number[],
  way: "up" | "down",
  nodes: Set<number>,
  edges: Set<number>,
): void {
  const seen = new Set(start);
  const todo = [...start];
  for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
    for (const at of (way === "up" ? model.arriving : model.leaving)[id] ?? []) {
      const edge = model.edges[at];
      if (!edge) continue;
      const next = way === "up" ? edge.source : edge.target;
      edges.add(at);
      nodes.add(next);
      if (!seen.has(next)) {
        seen.add(next);
        todo.push(next);
      }
    }
  }
}
