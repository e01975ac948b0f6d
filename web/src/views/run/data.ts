/** One run in full, renewed when the server says that it changed. */

import { signal } from "@preact/signals";
import { call, isAbort } from "../../lib/api";
import { liveState, onLive } from "../../lib/live";
import type { RunDetail } from "../../lib/schema";
import { meet, selected } from "../../state";

export const detail = signal<RunDetail | null>(null);
export const failure = signal<unknown>(null);
/** When `detail` was fetched, in unix seconds. */
export const fetchedAt = signal(0);

let control: AbortController | null = null;

export async function readRun(id: string): Promise<void> {
  control?.abort();
  control = new AbortController();
  try {
    const found = await call("POST /api/run", { run: id }, { signal: control.signal });
    detail.value = found;
    fetchedAt.value = Date.now() / 1000;
    failure.value = null;
  } catch (fault) {
    if (!isAbort(fault)) failure.value = fault;
  }
}

/** Follows one run while its page is shown; returns how to stop. */
export function watchRun(id: string): () => void {
  if (detail.peek()?.id !== id) detail.value = null;
  failure.value = null;
  void readRun(id);
  meet([id, ...selected.peek()]).catch(() => undefined); // only for its colour; the run's own request says what is wrong
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onLive((event) => {
    if (timer || !event.changed.some((one) => one.id === id)) return;
    timer = setTimeout(() => {
      timer = undefined;
      void readRun(id);
    }, 1000);
  });
  const stopState = liveState.subscribe((state) => {
    if (state.kind === "live" && failure.peek()) void readRun(id);
  });
  return () => {
    stop();
    stopState();
    clearTimeout(timer);
    control?.abort();
  };
}
