/** What is compared with what. All of it lives in the address, so that a link shows the same comparison. */

import { computed, signal } from "@preact/signals";
import { ApiError, call } from "../../lib/api";
import { flag, list, oneOf, text } from "../../lib/url";
import { param } from "../../router";
import { meet, project, remember, selected } from "../../state";
import { addressSettings } from "../charts/settings";

export const STATS = ["last", "best", "min", "max", "mean"] as const;
export type Stat = (typeof STATS)[number];

/** Keys to group by; the same as on the Charts page. */
export const by = addressSettings.by;
/** The column others are compared with: a run's id or a group's; "" for the first. */
export const base = param("base", "", text);
/** The two sides of *What changed*; "" to have them chosen. */
export const works = param("works", "", text);
export const broken = param("broken", "", text);
export const stat = param<Stat>("stat", "last", oneOf(...STATS));
/** Metrics: only rows that differ between columns. */
export const onlyDiffering = param("differ", false, flag);
/** Config and environment: also what is the same everywhere. */
export const everything = param("same", false, flag);
/** Sections that are folded away. */
export const shut = param<string[]>("shut", [], list);
/** The metrics that are drawn; empty for the first few of the table. */
export const drawn = param<string[]>("draw", [], list);

const NEWEST = 10;
const MOST_GROUPED = 500;

/** What stands in for chosen runs while there are none: the newest, or, to be grouped, all of the project. */
export const standIns = signal<readonly string[] | null>(null);
/** How many more there are than are taken. */
export const leftOut = signal(0);
export const fault = signal<ApiError | null>(null);

export const runs = computed<readonly string[] | null>(() => (selected.value.length ? selected.value : standIns.value));

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

let asked = 0;
/** Finds runs to compare, and the names and colours of chosen ones. */
export async function loadRuns(): Promise<void> {
  const now = ++asked;
  try {
    if (selected.peek().length) await meet(selected.peek());
    else {
      const query = project.peek() ? `project = ${quoted(project.peek())}` : "";
      const most = by.peek().length ? MOST_GROUPED : NEWEST;
      const found = await call("POST /api/runs", {
        query,
        sort: "created",
        descending: true,
        limit: NEWEST,
        ids: most,
      });
      if (now !== asked) return;
      remember(found.rows);
      leftOut.value = by.peek().length ? Math.max(0, found.matched - most) : 0;
      const ids = found.ids;
      if (ids.join() !== standIns.peek()?.join()) standIns.value = ids;
    }
    if (now === asked) fault.value = null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (now === asked) fault.value = error;
  }
}
