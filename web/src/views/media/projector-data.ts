/** Projections from the server: asked for again until they are done, and neighbours of the point that was chosen. */

import { useEffect, useState } from "preact/hooks";
import { call } from "../../lib/api";
import type { MediaItem, Near, Projection, ProjectionRequest } from "../../lib/schema";
import { errorWords } from "./data";

export type Method = NonNullable<ProjectionRequest["method"]>;

export interface Wanted {
  method: Method;
  dims: 2 | 3;
  perplexity: number;
}

const AGAIN_MS = 300;
/** A slider that is dragged passes many values; only the one it rests at is worth minutes of work. */
const REST_MS = 250;

export function useProjection(
  item: MediaItem,
  wanted: Wanted,
  active: boolean,
): { data: Projection | null; error: string | null; retry(): void } {
  const [data, setData] = useState<{ of: string; answer: Projection } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [again, setAgain] = useState(0);
  const name = [item.run, item.key, item.step].join("\n");
  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const answer = await call(
          "POST /api/projection",
          { run: item.run, key: item.key, step: item.step, ...wanted },
          { signal: stop.signal },
        );
        if (answer.x.length || answer.done) setData({ of: name, answer });
        setError(answer.error);
        if (!answer.done) timer = setTimeout(ask, AGAIN_MS);
      } catch (fault) {
        if (!stop.signal.aborted) setError(errorWords(fault));
      }
    };
    timer = setTimeout(ask, wanted.method === "pca" ? 0 : REST_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [name, wanted.method, wanted.dims, wanted.perplexity, active, again]);
  return { data: data?.of === name ? data.answer : null, error, retry: () => (setError(null), setAgain(again + 1)) };
}

const NEIGHBOURS = 10;

/** `row` is of the embedding, not of the picture; -1 for none. */
export function useNear(item: MediaItem, row: number): Near | null {
  const [near, setNear] = useState<{ of: string; answer: Near } | null>(null);
  const name = [item.run, item.key, item.step, row].join("\n");
  useEffect(() => {
    if (row < 0) return;
    const stop = new AbortController();
    call(
      "POST /api/projection/near",
      { run: item.run, key: item.key, step: item.step, row, count: NEIGHBOURS },
      { signal: stop.signal },
    ).then(
      (answer) => setNear({ of: name, answer }),
      () => undefined, // the point itself is still shown
    );
    return () => stop.abort();
  }, [name]);
  return row >= 0 && near?.of === name ? near.answer : null;
}
