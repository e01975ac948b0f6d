/** What the Charts page draws: the chosen runs, or the newest. */

import { call } from "../../lib/api";
import { onLive } from "../../lib/live";
import type { RunsPage } from "../../lib/schema";
import { chartRuns, hiddenSet, meet, newest, project, remember, selected } from "../../state";
import { foresee } from "./foresee";
import { ChartScope } from "./scope";
import { addressSettings } from "./settings";
import { taken } from "../workspace/space";

const AUTO_RUNS = 10;

/** The page's own scope. It outlives the page, so that coming back shows at once what was there. */
export const pageScope = new ChartScope(chartRuns, addressSettings, {
  hidden: hiddenSet,
  taken,
  onFirst: (scope) => foresee(scope, document.querySelector<HTMLElement>(".charts-main")),
});

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

function fetchRuns(query: string, limit: number): Promise<RunsPage> {
  return call("POST /api/runs", { query, sort: "created", descending: true, limit });
}

/** The newest runs of the project, for when none is chosen. */
export async function loadNewest(): Promise<void> {
  const of = project.peek();
  const query = of ? `project = ${quoted(of)}` : "";
  const page = await pageScope.guarded(fetchRuns(query, AUTO_RUNS));
  if (!page || of !== project.peek()) return; // another project was chosen meanwhile, and is asked about
  remember(page.rows);
  const ids = page.rows.map((row) => row.id);
  if (ids.join() !== newest.peek()?.join()) newest.value = ids;
}

/** Names, states and colours of chosen runs that this page has not seen yet. */
export async function loadNames(): Promise<void> {
  await pageScope.guarded(meet(selected.peek()));
}

/** Which panels there are; not before it is known which runs. */
export async function loadPanels(): Promise<void> {
  if (newest.peek() === null && selected.peek().length === 0) pageScope.panels.value = null;
  else await pageScope.loadPanels();
}

/** Follows live events while the page is open; returns how to stop. */
export function followLive(): () => void {
  const stopScope = pageScope.followLive();
  const stop = onLive((event) => {
    if (selected.peek().length > 0) return;
    const here = new Set(chartRuns.peek());
    if (event.changed.some((change) => !here.has(change.id)) || event.gone.some((id) => here.has(id)))
      void loadNewest();
  });
  return () => {
    stop();
    stopScope();
  };
}

/** Looks at everything again: the page was away, or the server was, and may have missed what happened. */
export function catchUp(): void {
  pageScope.catchUp();
  if (selected.peek().length === 0 && newest.peek() !== null) void loadNewest();
}
