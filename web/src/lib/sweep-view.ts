/** What the Sweeps page says, without a page. */

import { count, formatDuration } from "./format";
import type { SweepView } from "./schema";

/** The query for the runs of a sweep: its name is their group. */
export function groupQuery(name: string): string {
  return `group = ${JSON.stringify(name)}`;
}

export interface Share {
  state: string;
  runs: number;
  /** Of the bar, 0 to 1. */
  part: number;
}

const ORDER = ["finished", "pruned", "diverged", "timeout", "failed", "interrupted", "running"];

/** The progress bar, from what is done to what runs; settings that went back to all workers are not counted twice. */
export function shares({ counts, total }: Pick<SweepView, "counts" | "total">): Share[] {
  const there = ORDER.filter((state) => (counts[state] ?? 0) > 0);
  const sum = there.reduce((all, state) => all + (counts[state] as number), 0);
  const whole = Math.max(total ?? sum, sum, 1);
  return there.map((state) => ({
    state,
    runs: counts[state] as number,
    part: (counts[state] as number) / whole,
  }));
}

/** "12 of 16 runs done, about 40s left" */
export function sayProgress(sweep: SweepView): string {
  const done =
    sweep.total === null
      ? `${count(sweep.results, "run")} done, no end set`
      : `${sweep.results} of ${count(sweep.total, "run")} done`;
  return sweep.left_s === null ? done : `${done}, about ${formatDuration(sweep.left_s)} left`;
}

const STATES: Record<SweepView["state"], string> = {
  running: "Running",
  pausing: "Pausing after the current runs",
  paused: "Paused",
  done: "Done",
  stopped: "Stopped",
};

export function sayState(sweep: SweepView): string {
  return STATES[sweep.state];
}
