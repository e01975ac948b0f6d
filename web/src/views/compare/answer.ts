/**
 * An answer of the server that follows what is asked, and the runs it is about. What was there stays until the new
 * comes.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { useAsker } from "../../components/use-asker";
import { call, isAbort } from "../../lib/api";
import { liveState, onLive } from "../../lib/live";
import type { Routes } from "../../lib/schema";

const REST_MS = 2000;

export interface Answer<T> {
  data: T | null;
  fault: unknown;
  /** A newer answer is under way. */
  waiting: boolean;
  again(): void;
}

/** With `request` null nothing is asked. */
export function useAnswer<R extends keyof Routes>(
  route: R,
  request: Routes[R]["request"] | null,
  runs: readonly string[],
): Answer<Routes[R]["response"]> {
  const key = JSON.stringify(request);
  const [state, setState] = useState<{ data: Routes[R]["response"] | null; fault: unknown; key: string }>({
    data: null,
    fault: null,
    key: "",
  });
  const [round, setRound] = useState(0);
  const last = useRef(request);
  last.current = request;
  const asker = useAsker();
  useEffect(() => {
    const asked = last.current;
    if (asked === null) return asker.stop();
    void asker.ask(`${route} ${key}`, (stop) =>
      call(route, asked, { signal: stop }).then(
        (data) => setState({ data, fault: null, key }),
        (fault: unknown) => isAbort(fault) || setState((old) => ({ data: old.data, fault, key })),
      ),
    );
  }, [route, key, round]);
  useEffect(() => {
    const here = new Set(runs);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onLive((event) => {
      if (!event.changed.some((change) => here.has(change.id)) && !event.gone.some((id) => here.has(id))) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        setRound((old) => old + 1);
      }, REST_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [runs.join()]);
  const lost = liveState.value.kind === "retrying";
  const wasLost = useRef(false);
  useEffect(() => {
    if (!lost && wasLost.current) setRound((old) => old + 1);
    wasLost.current = lost;
  }, [lost]);
  return {
    data: state.data,
    fault: state.key === key ? state.fault : null,
    waiting: request !== null && state.key !== key,
    again: () => setRound((old) => old + 1),
  };
}
