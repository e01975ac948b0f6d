/** An answer of the server for a component: asked again when the question changes, the old one staying until then. */

import { useEffect, useState } from "preact/hooks";
import { useAsker } from "../../components/use-asker";
import { call, isAbort } from "../../lib/api";
import type { Routes } from "../../lib/schema";

export interface Answered<T> {
  /** The newest answer, perhaps to the question before. */
  answer: T | null;
  fault: unknown;
  waiting: boolean;
  again(): void;
}

/** `request` null: nothing is asked. `version`: ask again when it changes, though the question is the same. */
export function useAnswer<R extends keyof Routes>(
  route: R,
  request: Routes[R]["request"] | null,
  version: unknown = 0,
): Answered<Routes[R]["response"]> {
  const [state, setState] = useState<{ key: string; answer: Routes[R]["response"] | null; fault: unknown }>({
    key: "",
    answer: null,
    fault: null,
  });
  const [tries, setTries] = useState(0);
  const key = JSON.stringify(request);
  const asker = useAsker();
  useEffect(() => {
    if (request === null) return asker.stop();
    void asker.ask(key, (stop) =>
      call(route, request, { signal: stop }).then(
        (answer) => setState({ key, answer, fault: null }),
        (fault: unknown) => {
          if (!isAbort(fault))
            setState((before) => ({ key, answer: before.key === key ? before.answer : null, fault }));
        },
      ),
    );
  }, [key, version, tries]);
  return {
    answer: state.answer,
    fault: state.fault,
    waiting: request !== null && state.key !== key,
    again: () => setTries(tries + 1),
  };
}
