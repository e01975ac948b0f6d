/** One run in full, renewed when the server says that it changed. */

import { signal } from "@preact/signals";
import { call, isAbort } from "../../lib/api";
import { onLive, onReturn } from "../../lib/live";
import type { RunDetail } from "../../lib/schema";
import { Asker } from "../../lib/asker";
import { meet, selected } from "../../state";

export const detail = signal<RunDetail | null>(null);
export const failure = signal<unknown>(null);
/** When `detail` was fetched, in unix seconds. */
export const fetchedAt = signal(0);

const asker = new Asker();

export function readRun(id: string): Promise<void> {
  return asker.ask(id, (stop) => read(id, stop));
}

async function read(id: string, stop: AbortSignal): Promise<void> {
  const known = detail.peek()?.id === id ? detail.peek() : null;
  const brief = known !== null && isWhole(known);
  try {
    const found = await call("POST /api/run", { run: id, brief }, { signal: stop });
    detail.value = brief && known ? merged(known, found) : found;
    fetchedAt.value = Date.now() / 1000;
    failure.value = null;
  } catch (fault) {
    if (!isAbort(fault)) failure.value = fault;
  }
}

/** Git's diff is gathered beside the training and comes a moment later; until then all is asked for. */
function isWhole(run: RunDetail): boolean {
  return run.status !== "running" || run.git === null || run.git.diff !== null || Date.now() / 1000 - run.created > 60;
}

/** What never changes is not sent again. The same objects mean that the page does not draw them again. */
function merged(known: RunDetail, found: RunDetail): RunDetail {
  const git = found.git && known.git ? { ...found.git, diff: known.git.diff } : found.git;
  return {
    ...found,
    git: same(git, known.git),
    environment: same({ ...found.environment, packages: known.environment.packages }, known.environment),
    config: same(found.config, known.config),
    config_origins: same(found.config_origins, known.config_origins),
    findings: same(found.findings, known.findings),
    alerts: same(found.alerts, known.alerts),
    artifacts: same(found.artifacts, known.artifacts),
  };
}

function same<T>(fresh: T, old: T): T {
  return JSON.stringify(fresh) === JSON.stringify(old) ? old : fresh;
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
    }, 800);
  });
  const stopState = onReturn(() => void readRun(id));
  return () => {
    stop();
    stopState();
    clearTimeout(timer);
    asker.stop();
  };
}
