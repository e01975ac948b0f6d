/** What the Charts page draws: which runs, which panels, and the lines behind them. */

import { computed, signal } from "@preact/signals";
import { ApiError, call } from "../../lib/api";
import { SeriesStore } from "../../lib/chart-store";
import { searchFor } from "../../lib/chart-search";
import { panelId, pinnedPanels, sections } from "../../lib/chart-sections";
import { onLive } from "../../lib/live";
import type { PanelInfo, RunsPage } from "../../lib/schema";
import { chartRuns, hiddenSet, known, meet, newest, project, remember, selected } from "../../state";
import { find, pinnedRun, pins, regex } from "./settings";

const AUTO_RUNS = 10;
const MOST_DRAWN = 100;
const PANELS_REST_MS = 2500;

export const fault = signal<ApiError | null>(null);
/** Draw all chosen runs, however many. */
export const drawAll = signal(false);

const open = computed(() => {
  const runs = chartRuns.value.filter((id) => !hiddenSet.value.has(id));
  const pinned = pinnedRun.value;
  return runs.includes(pinned) ? [pinned, ...runs.filter((id) => id !== pinned)] : runs;
});
/** The runs whose lines are drawn: eyes open, and not more than the eye can tell apart. */
export const drawnRuns = computed(() => (drawAll.value ? open.value : open.value.slice(0, MOST_DRAWN)));
export const leftOut = computed(() => open.value.length - drawnRuns.value.length);

/** The run under the mouse in the list: the others fade. On a chart the nearest line is only made stronger. */
export const spotlit = signal<string | null>(null);

export const panels = signal<PanelInfo[] | null>(null);
export const search = computed(() => searchFor(find.value, regex.value));
const matching = computed(() => {
  const { matches } = search.value;
  return (panels.value ?? []).filter((p) => matches(p.key));
});
export const pinnedInfos = computed(() => pinnedPanels(matching.value, pins.value));
export const sectionList = computed(() => {
  const pinned = new Set(pins.value);
  return sections(matching.value.filter((p) => !pinned.has(panelId(p))));
});
export const matched = computed(() => matching.value.length);
/** Metrics that can be an x-axis. */
export const scalarKeys = computed(() => (panels.value ?? []).filter((p) => p.kind === "scalar").map((p) => p.key));

export const store = new SeriesStore((request, stop) => call("POST /api/series", request, { signal: stop }));
/** Grows when runs on the page got new data, at most once a second; media panels look again. */
export const pulse = signal(0);
const PULSE_MS = 1000;

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

async function guarded<T>(work: Promise<T>): Promise<T | null> {
  try {
    const answer = await work;
    fault.value = null;
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    fault.value = error;
    return null;
  }
}

function fetchRuns(query: string, limit: number): Promise<RunsPage> {
  return call("POST /api/runs", { query, sort: "created", descending: true, limit });
}

/** The newest runs of the project, for when none is chosen. */
export async function loadNewest(): Promise<void> {
  const query = project.peek() ? `project = ${quoted(project.peek())}` : "";
  const page = await guarded(fetchRuns(query, AUTO_RUNS));
  if (!page) return;
  remember(page.rows);
  const ids = page.rows.map((row) => row.id);
  if (ids.join() !== newest.peek()?.join()) newest.value = ids;
}

/** Names, states and colours of chosen runs that this page has not seen yet. */
export async function loadNames(): Promise<void> {
  await guarded(meet(selected.peek()));
}

let panelsAsked = 0;
/** Which panels the runs have. A late answer to an older question is dropped. */
export async function loadPanels(): Promise<void> {
  const runs = chartRuns.peek();
  const asked = ++panelsAsked;
  if (runs.length === 0) {
    panels.value = newest.peek() === null && selected.peek().length === 0 ? null : [];
    return;
  }
  const answer = await guarded(call("POST /api/panels", { runs: [...runs] }));
  if (!answer || asked !== panelsAsked) return;
  const same = JSON.stringify(answer.panels) === JSON.stringify(panels.peek());
  if (!same) panels.value = answer.panels;
}

/** Follows live events while the page is open; returns how to stop. */
export function followLive(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let beat: ReturnType<typeof setTimeout> | undefined;
  const stop = onLive((event) => {
    const here = new Set(chartRuns.peek());
    const ids = event.changed.map((change) => change.id);
    const ours = ids.filter((id) => here.has(id));
    if (selected.peek().length === 0 && (ids.some((id) => !here.has(id)) || event.gone.some((id) => here.has(id)))) void loadNewest();
    if (ours.length === 0) return;
    restate(event.changed.filter((change) => here.has(change.id)));
    store.changed(ours);
    beat ??= setTimeout(() => {
      beat = undefined;
      pulse.value++;
    }, PULSE_MS);
    timer ??= setTimeout(() => {
      timer = undefined;
      void loadPanels();
    }, PANELS_REST_MS);
  });
  return () => {
    clearTimeout(timer);
    clearTimeout(beat);
    stop();
  };
}

/** Looks at everything again: the page was away, or the server was, and may have missed what happened. */
export function catchUp(): void {
  store.refresh();
  pulse.value++;
  if (selected.peek().length === 0 && newest.peek() !== null) void loadNewest();
  if (panels.peek() !== null || fault.peek()) void loadPanels();
}

/** Takes the new status of runs that are known already. */
function restate(changes: readonly { id: string; version: number; status: string }[]): void {
  const rows = changes.flatMap((change) => {
    const row = known.peek().get(change.id);
    return row && row.status !== change.status ? [{ ...row, status: change.status as typeof row.status, version: change.version }] : [];
  });
  remember(rows);
}
