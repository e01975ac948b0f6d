/** Which rows of a long table are on the screen. Groups are rows too: a heading, then its runs unless it is shut. */

import type { Cell, RunGroup } from "./schema";

export interface Span {
  start: number;
  end: number;
}

/**
 * The rows to draw: what is visible and `spare` more on each side, in blocks of `block` so that small scrolls change
 * nothing.
 */
export function visibleSpan(
  scrollTop: number,
  height: number,
  rowHeight: number,
  count: number,
  spare = 10,
  block = 5,
): Span {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight) - spare;
  const last = Math.ceil((Math.max(0, scrollTop) + height) / rowHeight) + spare;
  const start = Math.max(0, Math.floor(first / block) * block);
  return { start: Math.min(start, count), end: Math.min(count, Math.ceil(last / block) * block) };
}

/** How far to scroll so that a row is wholly visible; the present place if it is. */
export function scrollToShow(index: number, scrollTop: number, height: number, rowHeight: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

export type Item =
  | { kind: "run"; position: number; id: string | undefined }
  | { kind: "group"; group: RunGroup; shut: boolean };

export interface Layout {
  count: number;
  at(index: number): Item | undefined;
  /** Where a run is drawn, or -1. */
  indexOf(id: string): number;
}

/** The rows in order. Without groups nothing is built, so ten thousand runs cost nothing here. */
export function layoutOf(
  order: readonly (string | undefined)[],
  groups: readonly RunGroup[] | null,
  shut: ReadonlySet<string>,
): Layout {
  if (!groups) {
    return {
      count: order.length,
      at: (index) =>
        index >= 0 && index < order.length ? { kind: "run", position: index, id: order[index] } : undefined,
      indexOf: (id) => order.indexOf(id),
    };
  }
  const positions = new Map(order.map((id, position) => [id, position]));
  const items: Item[] = [];
  for (const group of groups) {
    const closed = shut.has(groupKey(group.value));
    items.push({ kind: "group", group, shut: closed });
    if (!closed) for (const id of group.ids) items.push({ kind: "run", position: positions.get(id) ?? -1, id });
  }
  return {
    count: items.length,
    at: (index) => items[index],
    indexOf: (id) => items.findIndex((item) => item.kind === "run" && item.id === id),
  };
}

export function groupKey(value: Cell): string {
  return JSON.stringify(value);
}

/** Pages of `size` rows that hold positions whose rows are not here yet. */
export function missingPages(positions: Iterable<number>, has: (position: number) => boolean, size: number): number[] {
  const pages = new Set<number>();
  for (const position of positions) if (position >= 0 && !has(position)) pages.add(Math.floor(position / size));
  return [...pages].sort((a, b) => a - b);
}

/** The ids between two, both included, in table order; only the second when the first is not there. */
export function rangeBetween(order: readonly (string | undefined)[], from: string | null, to: string): string[] {
  const a = from === null ? -1 : order.indexOf(from);
  const b = order.indexOf(to);
  if (a < 0 || b < 0) return [to];
  return order.slice(Math.min(a, b), Math.max(a, b) + 1).filter((id) => id !== undefined);
}
