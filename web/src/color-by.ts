/**
 * Runs colored by a config value instead of each in its own color: which one is in the address, and so on every page.
 */

import { effect, signal } from "@preact/signals";
import { call } from "./lib/api";
import { type ColorScale, colorOf, colorScale } from "./lib/color-by";
import { onLive } from "./lib/live";
import { inProject } from "./lib/query";
import type { Cell } from "./lib/schema";
import { text } from "./lib/url";
import { param } from "./router";
import { colorByValue, known, project } from "./state";
import { isDark } from "./theme";

/** A column's key, as `config.lr`; "" for each run's own color. In the address as `color`. */
export const colorBy = param<string>("color", "", text, true);
/**
 * Over all runs of the project, so that a run's color does not depend on who is drawn beside it; null until it is
 * known.
 */
export const scale = signal<ColorScale | null>(null);
/** Runs of the project without a value. */
export const missing = signal(0);
/** Why there is no scale. */
export const fault = signal("");

const values = signal<ReadonlyMap<string, Cell>>(new Map());
const RUNS_A_QUERY = 50;

async function readScale(key: string, of: string): Promise<void> {
  const current = () => key === colorBy.peek() && of === project.peek();
  try {
    const found = await call("POST /api/column", { key, query: inProject(of, "").query, archived: true });
    if (!current()) return;
    scale.value = colorScale(found);
    missing.value = found.missing;
    fault.value = scale.value ? "" : "no run has it";
  } catch (error) {
    if (current()) fault.value = error instanceof Error ? error.message : String(error);
  }
}

const asked = new Set<string>();

async function readValues(key: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) asked.add(id);
  for (let at = 0; at < ids.length; at += RUNS_A_QUERY) {
    const some = ids.slice(at, at + RUNS_A_QUERY);
    const query = `id in (${some.map((id) => JSON.stringify(id)).join(", ")})`;
    const page = await call("POST /api/runs", { query, columns: [key], limit: some.length, archived: true });
    if (key !== colorBy.peek()) return;
    values.value = new Map([...values.peek(), ...page.rows.map((row) => [row.id, row.cells[0] ?? null] as const)]);
  }
}

/** Follows the address and the runs that pages show. */
export function keepColors(): void {
  let before = "";
  effect(() => {
    const key = colorBy.value;
    const of = project.value;
    if (`${key} ${of}` === before) return;
    before = `${key} ${of}`;
    asked.clear();
    values.value = new Map();
    scale.value = null;
    fault.value = "";
    if (key) void readScale(key, of);
  });
  effect(() => {
    const key = colorBy.value;
    if (!key) return;
    const fresh = [...known.value.keys()].filter((id) => !asked.has(id));
    if (fresh.length > 0) void readValues(key, fresh).catch(() => undefined); // those runs stay gray
  });
  effect(() => {
    const [now, found, dark] = [scale.value, values.value, isDark.value];
    colorByValue.value = now ? (id) => colorOf(now, found.get(id), dark) : null;
  });
  // A run with a value beyond the others has begun.
  onLive((event) => {
    if (colorBy.peek() && event.changed.some((change) => !known.peek().has(change.id)))
      void readScale(colorBy.peek(), project.peek());
  });
}
