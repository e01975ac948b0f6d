/** The best value of each shown metric over all runs that match, not only those that were scrolled to. */

import { computed, signal } from "@preact/signals";
import { call } from "../../lib/api";
import { bestOf, goalOf } from "../../lib/best";
import { inProject } from "../../lib/query";
import { project } from "../../state";
import { rows, table } from "./data";
import { query, shownKeys } from "./settings";

const MOST_COLUMNS = 8;

/** Answers for tables that are too long to have all rows here. */
const told = signal<{ of: string; values: ReadonlyMap<string, number> }>({ of: "", values: new Map() });

export const bestValues = computed<ReadonlyMap<string, number>>(() => {
  const now = table.value;
  if (!now) return new Map();
  if (rows.value.size < now.matched) return told.value.of === subject() ? told.value.values : new Map();
  const found = new Map<string, number>();
  for (const key of shownKeys.value) {
    const goal = goalOf(key);
    if (goal === null) continue;
    const best = bestOf(
      [...rows.value.values()].map((kept) => kept.cells.get(key)),
      goal,
    );
    if (best !== null) found.set(key, best);
  }
  return found;
});

function subject(): string {
  return JSON.stringify([project.value, query.value, shownKeys.value]);
}

/** For a long table: asks for the first run by each metric. One small request a column, when the table has come to rest. */
export async function askBest(): Promise<void> {
  const now = table.peek();
  const of = subject();
  if (!now || rows.peek().size >= now.matched || told.peek().of === of) return;
  const values = new Map<string, number>();
  told.value = { of, values };
  for (const key of shownKeys
    .peek()
    .filter((one) => goalOf(one) !== null)
    .slice(0, MOST_COLUMNS)) {
    const asked = inProject(project.peek(), query.peek()).query;
    const request = { query: asked, sort: key, descending: goalOf(key) === "max", columns: [key], limit: 1 };
    const page = await call("POST /api/runs", request).catch(() => null);
    const value = page?.rows[0]?.cells[0];
    if (typeof value === "number") values.set(key, value);
  }
  if (subject() === of) told.value = { of, values: new Map(values) };
}
