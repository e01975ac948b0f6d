/** Layouts by plan: each is made once, in a worker; where no worker can start, on the page itself. */

import { type Placed, type Plan, planKey } from "../lib/graph-plan";
import type { Answered, Asked } from "./layout-worker";

export interface Layouts {
  place(plan: Plan): Promise<Placed>;
  close(): void;
}

/** Enough for every box a person opens in a sitting. */
const KEPT = 2000;

/**
 * `start` makes the worker and may throw (pages opened from a file cannot always have one). `here` loads the same
 * layout for the page; it is only called when there is no worker.
 */
export function makeLayouts(start: () => Worker, here: () => Promise<(plan: Plan) => Placed>): Layouts {
  const kept = new Map<string, Promise<Placed>>();
  const waiting = new Map<number, { plan: Plan; done: (placed: Placed) => void; fail: (fault: unknown) => void }>();
  let worker: Worker | null = null;
  let next = 0;

  const onPage = ({
    plan,
    done,
    fail,
  }: {
    plan: Plan;
    done: (placed: Placed) => void;
    fail: (fault: unknown) => void;
  }) => here().then((placePlan) => done(placePlan(plan)), fail);
  const giveUp = () => {
    worker?.terminate();
    worker = null;
    const left = [...waiting.values()];
    waiting.clear();
    for (const one of left) void onPage(one);
  };
  try {
    worker = start();
    worker.onmessage = ({ data }: MessageEvent<Answered>) => {
      waiting.get(data.id)?.done(data.placed);
      waiting.delete(data.id);
    };
    worker.onerror = giveUp;
  } catch {
    worker = null;
  }

  const ask = (plan: Plan): Promise<Placed> =>
    new Promise((done, fail) => {
      if (!worker) return void onPage({ plan, done, fail });
      const id = next++;
      waiting.set(id, { plan, done, fail });
      const message: Asked = { id, plan };
      worker.postMessage(message);
    });

  return {
    place(plan) {
      const key = planKey(plan);
      let known = kept.get(key);
      if (!known) {
        known = ask(plan);
        if (kept.size >= KEPT) kept.delete(kept.keys().next().value as string);
        kept.set(key, known);
      }
      return known;
    },
    close: () => worker?.terminate(),
  };
}
