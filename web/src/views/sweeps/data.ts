/** The Sweeps page's state: the sweeps, the one that is shown, and the runs of that one for the charts. */

import { computed, effect, signal } from "@preact/signals";
import { toast } from "../../components";
import { Asker } from "../../lib/asker";
import { call, isAbort } from "../../lib/api";
import { onLive, onReturn } from "../../lib/live";
import { type ParamTable, readTable } from "../../lib/param-table";
import type { SweepView } from "../../lib/schema";
import { groupQuery } from "../../lib/sweep-view";
import { text } from "../../lib/url";
import { param } from "../../router";

const chosen = param<string>("sweep", "", text, true);

export const sweeps = signal<SweepView[] | null>(null);
export const problems = signal<string[]>([]);
export const fault = signal<unknown>(null);
export const table = signal<ParamTable | null>(null);

/** The one in the address, or the newest. */
export const shown = computed(() => sweeps.value?.find((one) => one.id === chosen.value) ?? sweeps.value?.[0] ?? null);

export function show(sweep: SweepView): void {
  if (sweep.id !== shown.peek()?.id) table.value = null;
  chosen.value = sweep.id;
}

const list = new Asker();
const runs = new Asker();

export function load(): Promise<void> {
  return list.ask("sweeps", async (stop) => {
    try {
      const answer = await call("POST /api/sweeps", {}, { signal: stop });
      sweeps.value = answer.sweeps;
      problems.value = answer.problems;
      fault.value = null;
    } catch (error) {
      if (!isAbort(error)) fault.value = error;
    }
  });
}

function loadRuns(sweep: SweepView): Promise<void> {
  const request = {
    query: groupQuery(sweep.name),
    metric: sweep.metric ?? "",
    goal: sweep.goal,
    unfinished: true,
  };
  return runs.ask(JSON.stringify(request), async (stop) => {
    try {
      table.value = readTable(await call("POST /api/parameters", request, { signal: stop }));
    } catch (error) {
      if (!isAbort(error)) table.value = null; // The list still says how the sweep stands.
    }
  });
}

export async function pause(sweep: SweepView, paused: boolean): Promise<void> {
  try {
    await call("POST /api/sweeps/pause", { sweep: sweep.id, paused });
  } catch (error) {
    toast("Not changed", "error", error instanceof Error ? error.message : String(error));
  }
  await load();
}

const REST_MS = 2000;
const POLL_MS = 5000;

/**
 * Asks while the page is shown: when runs change, and every few seconds, as a worker that starts on a sweep changes no
 * run yet. Returns how to stop.
 */
export function watchSweeps(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => (timer ??= setTimeout(() => ((timer = undefined), void load()), REST_MS));
  const poll = setInterval(soon, POLL_MS);
  void load();
  const stops = [
    effect(() => {
      if (shown.value) void loadRuns(shown.value);
    }),
    onLive((event) => (event.changed.length > 0 || event.gone.length > 0) && soon()),
    onReturn(soon),
  ];
  return () => {
    for (const stop of stops) stop();
    clearTimeout(timer);
    clearInterval(poll);
    list.stop();
    runs.stop();
  };
}
