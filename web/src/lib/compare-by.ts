/** The keys that runs can be grouped by, in the order people look for them. */

import { count } from "./format";
import type { RunColumn } from "./schema";

/** Every config key that differs, except seeds; the server writes it out. */
export const EVERYTHING = "*";

export interface GroupKey {
  key: string;
  label: string;
  hint: string;
}

const RUN_KEYS: Readonly<Record<string, string>> = {
  group: "the run's group",
  project: "project",
  status: "status",
  tags: "tags",
  host: "host",
  user: "user",
  "git.commit": "commit",
  "git.branch": "branch",
};

/** The run's own group first, config that differs next, then what every run has. */
export function groupKeys(columns: readonly RunColumn[]): GroupKey[] {
  const config = columns.filter((column) => column.source === "config");
  const differing = config.filter((column) => column.distinct > 1);
  const rest = config.filter((column) => column.distinct <= 1);
  const own = Object.entries(RUN_KEYS).map(([key, label]) => ({ key, label, hint: "run" }));
  const asKey = (column: RunColumn): GroupKey => ({
    key: column.key,
    label: column.label,
    hint: column.distinct > 1 ? count(column.distinct, "value") : "the same in all",
  });
  return [...own.slice(0, 1), ...differing.map(asKey), ...own.slice(1), ...rest.map(asKey)];
}

/** `lr, optimizer`; what stands on the button. */
export function byWords(by: readonly string[]): string {
  return by
    .map((key) =>
      key === EVERYTHING
        ? "everything but the seed"
        : (RUN_KEYS[key] ?? key.replace(/^config\./, "").replace(/^"(.*)"$/, "$1")),
    )
    .join(", ");
}
