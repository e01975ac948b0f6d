/** What pages share: the chosen runs, their colours, who is hidden, who is under the mouse, what is known of them. */

import { computed, signal } from "@preact/signals";
import { call } from "./lib/api";
import { isGroup, type LineGroup } from "./lib/chart-groups";
import { dashesBy } from "./lib/color-by";
import { assignSlots, type Look, lookOf, swatch } from "./lib/colour";
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
/** Who is signed in at a team's server; empty in the app of one person. */
export const signedIn = signal("");
/** The run under the mouse, in the table or on a chart. */
export const hovered = signal<string | null>(null);

export const selectedSet = computed<ReadonlySet<string>>(() => new Set(selected.value));
export const hiddenSet = computed<ReadonlySet<string>>(() => new Set(hidden.value));
/** The chosen runs whose eye is open: what Charts draws. */
export const shown = computed(() => selected.value.filter((id) => !hiddenSet.value.has(id)));

/** The newest runs, which Charts draws while none is chosen; null until they are known. */
export const newest = signal<readonly string[] | null>(null);
/** What Charts draws: the chosen runs, or the newest. */
export const chartRuns = computed<readonly string[]>(() =>
  selected.value.length ? selected.value : (newest.value ?? []),
);

/** Names and states of runs seen so far, for legends and tooltips. */
export const known = signal<ReadonlyMap<string, RunRow>>(new Map());

export function remember(rows: readonly RunRow[]): void {
  const now = known.peek();
  const fresh = rows.filter((row) => {
    const old = now.get(row.id);
    return old?.version !== row.version || old.status !== row.status || old.hue !== row.hue;
  });
  if (fresh.length === 0) return;
  const next = new Map(now);
  for (const row of fresh) next.set(row.id, row);
  known.value = next;
}

/** The runs of the report that is open with their own hues, in the order it names them; null when none is open. */
export const reportHues = signal<ReadonlyMap<string, number> | null>(null);

const slots = computed(() => {
  const report = reportHues.value;
  if (report) return assignSlots([...report.keys()], (id) => report.get(id));
  return assignSlots(chartRuns.value, (id) => known.value.get(id)?.hue);
});

/**
 * Color and dash of a run, on whatever page: the color is always its own. `hue` is that color where the page has it
 * from the server and the run may not be known yet.
 */
export function lookOfRun(id: string, hue?: number): Look {
  if (isGroup(id)) return lookOf(groupsSeen.value.get(id)?.slot, isDark.value);
  const own = lookOf(slots.value.get(id) ?? known.value.get(id)?.hue ?? hue, isDark.value);
  const color = reportHues.value ? null : colorByValue.value;
  return color ? { ...own, colour: color(id), dash: valueDashes.value.get(id) ?? [] } : own;
}

/** The color of a run's value, while runs are colored by one (see color-by.ts) and not each in its own. */
export const colorByValue = signal<((id: string) => string) | null>(null);
const valueDashes = computed(() => dashesBy(chartRuns.value, colorByValue.value ?? (() => "")));

/** What a legend paints beside a run's name. */
export const inkOfRun = (id: string, hue?: number): { background: string } => ({
  background: swatch(lookOfRun(id, hue)),
});

const NAMES_A_QUERY = 50;
const asked = new Set<string>();

/** Makes sure that these runs are known, so that they have their names and colours on a page opened from a link. */
export async function meet(ids: readonly string[]): Promise<void> {
  const strangers = ids.filter((id) => !known.peek().has(id) && !asked.has(id) && /^[\w-]+$/.test(id));
  for (let at = 0; at < strangers.length; at += NAMES_A_QUERY) {
    const some = strangers.slice(at, at + NAMES_A_QUERY);
    for (const id of some) asked.add(id);
    try {
      const query = `id in (${some.map((id) => JSON.stringify(id)).join(", ")})`;
      remember((await call("POST /api/runs", { query, limit: some.length, archived: true })).rows);
    } finally {
      for (const id of some) asked.delete(id);
    }
  }
}

/** Groups of runs that charts draw as one line; their ids stand where runs' ids stand. */
const groupsSeen = signal<ReadonlyMap<string, LineGroup>>(new Map());

export function rememberGroups(groups: readonly LineGroup[]): void {
  if (groups.every((group) => groupsSeen.peek().get(group.id)?.slot === group.slot)) return;
  groupsSeen.value = new Map([...groupsSeen.peek(), ...groups.map((group) => [group.id, group] as const)]);
}

export function nameOf(id: string): string {
  if (isGroup(id)) return groupsSeen.value.get(id)?.label ?? "";
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
