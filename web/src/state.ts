/** What pages share: the chosen runs, their colours, who is hidden, who is under the mouse, what is known of them. */

import { computed, signal } from "@preact/signals";
import { assignSlots, type Look, lookOf } from "./lib/colour";
import type { RunRow } from "./lib/schema";
import { list, text } from "./lib/url";
import { param } from "./router";
import { isDark } from "./theme";

/** Ids of the runs that Charts draws, in the order they were chosen. In the address as `runs`. */
export const selected = param<string[]>("runs", [], list);
/** Chosen runs whose eye is closed. In the address as `hide`. */
export const hidden = param<string[]>("hide", [], list);
/** The project shown, or "" for all. */
export const project = param<string>("project", "", text, true);
/** The run under the mouse, in the table or on a chart. */
export const hovered = signal<string | null>(null);

export const selectedSet = computed<ReadonlySet<string>>(() => new Set(selected.value));
export const hiddenSet = computed<ReadonlySet<string>>(() => new Set(hidden.value));
/** The chosen runs whose eye is open: what Charts draws. */
export const shown = computed(() => selected.value.filter((id) => !hiddenSet.value.has(id)));

let slotsBefore: ReadonlyMap<string, number> = new Map();
const slots = computed(() => (slotsBefore = assignSlots(selected.value, slotsBefore)));

/** Colour and dash of a run. Chosen runs never share one; the others show the one their id prefers. */
export function lookOfRun(id: string): Look {
  const slot = slots.value.get(id) ?? (assignSlots([id]).get(id) as number);
  return lookOf(slot, isDark.value);
}

/** Names and states of runs seen so far, for legends and tooltips. */
export const known = signal<ReadonlyMap<string, RunRow>>(new Map());

export function remember(rows: readonly RunRow[]): void {
  const now = known.peek();
  const fresh = rows.filter(
    (row) => now.get(row.id)?.version !== row.version || now.get(row.id)?.status !== row.status,
  );
  if (fresh.length === 0) return;
  const next = new Map(now);
  for (const row of fresh) next.set(row.id, row);
  known.value = next;
}

export function nameOf(id: string): string {
  return known.value.get(id)?.name ?? id.slice(-6);
}

export function toggleSelected(id: string, on = !selectedSet.peek().has(id)): void {
  setSelected(on ? [...selected.peek(), id] : selected.peek().filter((other) => other !== id));
}

export function setSelected(ids: readonly string[]): void {
  const unique = [...new Set(ids)];
  selected.value = unique;
  const left = hidden.peek().filter((id) => unique.includes(id));
  if (left.length !== hidden.peek().length) hidden.value = left;
}

export function toggleHidden(id: string): void {
  hidden.value = hiddenSet.peek().has(id) ? hidden.peek().filter((other) => other !== id) : [...hidden.peek(), id];
}
