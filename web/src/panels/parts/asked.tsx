/** An answer of the server for a panel: asked when the panel is first seen, and again when its run has news. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Skeleton } from "../../components";
import { useAsker } from "../../components/use-asker";
import { isAbort } from "../../lib/api";
import { onLive } from "../../lib/live";
import { useVisible } from "../../views/charts/visible";

const NEWS_REST_MS = 2000;

export interface AskedProps<T> {
  /** What is asked, as text: a new one asks again. */
  question: string;
  /** Whose news make the answer old. */
  runs: readonly string[];
  ask(stop: AbortSignal): Promise<T>;
  /** The room it takes until it is there. */
  height?: number;
  children: (answer: T) => ComponentChildren;
}

export function Asked<T>({ question, runs, ask, height = 160, children }: AskedProps<T>) {
  const place = useRef<HTMLDivElement>(null);
  const seen = useVisible(place);
  const [begun, setBegun] = useState(false);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ found: { answer: T } | null; fault: unknown }>({ found: null, fault: null });
  useEffect(() => void (seen && setBegun(true)), [seen]);
  const asker = useAsker();
  useEffect(() => {
    if (!begun) return;
    void asker.ask(question, (stop) =>
      ask(stop).then(
        (answer) => setState({ found: { answer }, fault: null }),
        (fault: unknown) => isAbort(fault) || setState((old) => ({ ...old, fault })),
      ),
    );
  }, [begun, question, turn]);
  useEffect(() => followed(runs, () => setTurn((n) => n + 1)), [runs.join()]);
  const { found, fault } = state;
  return (
    <div ref={place} class="report-asked" aria-busy={found === null && !fault}>
      {found !== null ? (
        children(found.answer)
      ) : fault ? (
        <Failed fault={fault} onRetry={() => setTurn((n) => n + 1)} />
      ) : (
        <Skeleton height={height} />
      )}
    </div>
  );
}

function followed(runs: readonly string[], again: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ours = new Set(runs);
  const stop = onLive((event) => {
    if (!event.changed.some((change) => ours.has(change.id))) return;
    timer ??= setTimeout(() => ((timer = undefined), again()), NEWS_REST_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

function Failed({ fault, onRetry }: { fault: unknown; onRetry(): void }) {
  return (
    <p class="hstack gap-2 px-4 py-3 soft framed" role="alert">
      <span class="isolate">{fault instanceof Error ? fault.message : String(fault)}</span>{" "}
      <Button kind="quiet" onClick={onRetry}>
        Try again
      </Button>
    </p>
  );
}
