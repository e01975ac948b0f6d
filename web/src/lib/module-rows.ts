/** The table of modules as a tree: which rows are seen, in which order, and how far each number is from the largest. */

import type { ModuleRow } from "./schema";

export type ModuleColumn = "module" | "params" | "flops" | "time_us" | "saved_bytes";

export interface ModuleNode {
  row: ModuleRow;
  /** Its place in the model. */
  at: number;
  children: ModuleNode[];
}

export interface Order {
  by: ModuleColumn;
  down: boolean;
}

/** Rows come in the order of the model, each with its level. */
export function moduleTree(rows: readonly ModuleRow[]): ModuleNode[] {
  const top: ModuleNode[] = [];
  const open: ModuleNode[] = [];
  rows.forEach((row, at) => {
    const node: ModuleNode = { row, at, children: [] };
    while (open.length > 0 && (open[open.length - 1] as ModuleNode).row.level >= row.level) open.pop();
    (open[open.length - 1]?.children ?? top).push(node);
    open.push(node);
  });
  return top;
}

/** What is open at first: all levels that fit into `most` rows. */
export function openAtFirst(tree: readonly ModuleNode[], most = 24): Set<number> {
  const open = new Set<number>();
  let level = [...tree];
  let seen = level.length;
  while (level.length > 0) {
    const next = level.flatMap((node) => node.children);
    seen += next.length;
    if (seen > most && open.size > 0) break;
    for (const node of level) if (node.children.length > 0) open.add(node.at);
    level = next;
  }
  return open;
}

/** The rows that are seen. Sorting moves modules among their neighbours, so that the tree stays a tree. */
export function seenRows(tree: readonly ModuleNode[], open: ReadonlySet<number>, order: Order): ModuleNode[] {
  const seen: ModuleNode[] = [];
  const walk = (nodes: readonly ModuleNode[]) => {
    for (const node of sorted(nodes, order)) {
      seen.push(node);
      if (open.has(node.at)) walk(node.children);
    }
  };
  walk(tree);
  return seen;
}

/** What is not known comes last, whichever way one sorts. */
function sorted(nodes: readonly ModuleNode[], { by, down }: Order): readonly ModuleNode[] {
  if (by === "module") return down ? [...nodes].reverse() : nodes;
  const value = (node: ModuleNode) => node.row[by] ?? null;
  return [...nodes].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return x === y ? a.at - b.at : x === null ? 1 : -1;
    return (down ? y - x : x - y) || a.at - b.at;
  });
}

/** The rows from the top to the module at `path`, itself last; empty when there is none. */
export function wayToPath(tree: readonly ModuleNode[], path: string): ModuleNode[] {
  for (const node of tree) {
    if (node.row.path === path) return [node];
    const below = wayToPath(node.children, path);
    if (below.length > 0) return [node, ...below];
  }
  return [];
}
