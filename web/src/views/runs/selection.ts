/** Choosing runs with the mouse and the keyboard. The choice itself is shared with Charts (`state.ts`). */

import { signal } from "@preact/signals";
import { toast } from "../../components";
import { rangeBetween, scrollToShow } from "../../lib/rows";
import { selected, selectedSet, setSelected, toggleSelected } from "../../state";
import { idsBetween, layout, table } from "./data";

/** More lines than this cannot be told apart, nor does the address grow without end. */
const MOST = 500;

/** The row the keyboard is on, as its place in the drawn list; -1 before the first key. */
export const cursor = signal(-1);
let anchor: string | null = null;

export function choose(id: string, on: boolean, range: boolean): void {
  const order = table.peek()?.order ?? [];
  if (range && anchor !== null && anchor !== id) {
    const [from, to] = [order.indexOf(anchor), order.indexOf(id)].sort((a, b) => a - b) as [number, number];
    const drawn = drawnRange(anchor, id);
    const unseen = drawn === null && from >= 0 && order.slice(from, to + 1).includes(undefined);
    if (unseen) idsBetween(from, to).then((ids) => chooseMany(ids, on), failed);
    else chooseMany(drawn ?? rangeBetween(order, anchor, id), on);
  } else {
    toggleSelected(id, on);
  }
  anchor = id;
}

function failed(fault: unknown): void {
  toast(fault instanceof Error ? fault.message : String(fault), "error");
}

/** With groups the order on the screen is not that of the list. */
function drawnRange(from: string, to: string): string[] | null {
  if (!table.peek()?.groups) return null;
  const drawn = layout.peek();
  const [a, b] = [drawn.indexOf(from), drawn.indexOf(to)].sort((x, y) => x - y) as [number, number];
  const ids: string[] = [];
  for (let index = Math.max(0, a); index <= b; index++) {
    const item = drawn.at(index);
    if (item?.kind === "run" && item.id !== undefined) ids.push(item.id);
  }
  return ids;
}

export function chooseMany(ids: readonly (string | undefined)[], on: boolean): void {
  const wanted = ids.filter((id): id is string => id !== undefined);
  if (!on) {
    const gone = new Set(wanted);
    setSelected(selected.peek().filter((id) => !gone.has(id)));
    return;
  }
  const all = [...new Set([...selected.peek(), ...wanted])];
  if (all.length > MOST)
    toast(
      `The first ${MOST} of ${Math.max(all.length, ids.length).toLocaleString("en-US")} runs are selected; narrow the query to select others.`,
      "warning",
    );
  setSelected(all.slice(0, MOST));
}

export function chosenAmong(ids: readonly (string | undefined)[]): number {
  let count = 0;
  for (const id of ids) if (id !== undefined && selectedSet.value.has(id)) count++;
  return count;
}

export function moveCursor(step: number, scroller: HTMLElement | null, rowHeight: number): void {
  const count = layout.peek().count;
  if (count === 0) return;
  cursor.value = Math.max(0, Math.min(count - 1, cursor.peek() + step));
  if (!scroller) return;
  const head = rowHeight;
  const top = scrollToShow(cursor.peek(), scroller.scrollTop, scroller.clientHeight - head, rowHeight);
  if (top !== scroller.scrollTop) scroller.scrollTop = top;
}

export function idAtCursor(): string | null {
  const item = layout.peek().at(cursor.peek());
  return item?.kind === "run" ? (item.id ?? null) : null;
}
