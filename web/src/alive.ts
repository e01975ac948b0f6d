/** How running runs do right now: asked for every few seconds, for those that somebody looks at. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "./lib/api";
import { onLive } from "./lib/live";
import type { Alive } from "./lib/schema";

const EVERY_MS = 3000;
const MOST = 200;

const aliveRuns = signal<ReadonlyMap<string, Alive>>(new Map());
/** How many places show each run. */
const wanted = new Map<string, number>();
let timer: ReturnType<typeof setTimeout> | undefined;

function soon(ms: number): void {
  clearTimeout(timer);
  timer = wanted.size > 0 ? setTimeout(() => void ask(), ms) : undefined;
}

async function ask(): Promise<void> {
  timer = undefined;
  if (!document.hidden) {
    const runs = [...wanted.keys()].slice(0, MOST);
    const answer = await call("POST /api/alive", { runs }).catch(() => null);
    if (answer) aliveRuns.value = new Map(answer.runs.map((one) => [one.run, one]));
  }
  soon(EVERY_MS);
}

// A run that ended is announced at once, not with the next look.
onLive((event) => {
  if (event.changed.some((change) => change.status !== "running" && aliveRuns.peek().has(change.id))) soon(0);
});

/** The run as it does now, while the component is on the page; null where it is not known or has ended. */
export function useAlive(run: string, running: boolean): Alive | null {
  useEffect(() => {
    if (!running) return;
    wanted.set(run, (wanted.get(run) ?? 0) + 1);
    if (timer === undefined || !aliveRuns.peek().has(run)) soon(30);
    return () => {
      const left = (wanted.get(run) ?? 1) - 1;
      if (left > 0) wanted.set(run, left);
      else wanted.delete(run);
    };
  }, [run, running]);
  return running ? (aliveRuns.value.get(run) ?? null) : null;
}
