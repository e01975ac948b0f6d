/** A value that is a filter: a click asks for the runs that have it, a second click takes that back. */

import type { ComponentChildren } from "preact";
import { formatCell, visibleText } from "../../lib/format";
import { asksFor, toggled } from "../../lib/query-terms";
import type { Cell, RunColumn } from "../../lib/schema";
import { query } from "./settings";

/** Facts of a run that many share. */
const SHARED: ReadonlySet<string> = new Set(["status", "project", "group", "host", "user", "git.commit", "git.branch"]);

export const isFilter = (column: RunColumn): boolean => column.source === "config" || SHARED.has(column.key);

export function filterBy(field: string, value: Cell): void {
  query.value = toggled(query.peek(), field, value);
}

export function FilterValue({
  column,
  value,
  children,
}: {
  column: RunColumn;
  value: Cell;
  children: ComponentChildren;
}) {
  const on = asksFor(query.value, column.key, value);
  const words = `${visibleText(column.label)} ${value === null ? "none" : visibleText(formatCell(value))}`;
  return (
    <button
      type="button"
      class="inline cell-filter"
      data-on={on || undefined}
      aria-pressed={on}
      title={on ? `Stop filtering by ${words}` : `Only runs with ${words}`}
      onClick={() => filterBy(column.key, value)}
    >
      {children}
    </button>
  );
}
