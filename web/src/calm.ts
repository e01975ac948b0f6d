/** A signal that follows another at a person's pace: for words that are read aloud, which need no update with every point. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

const EVERY_MS = 4000;

export function useCalm<T>(source: ReadonlySignal<T>): ReadonlySignal<T> {
  const calm = useMemo(() => signal(source.peek()), [source]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = Number.NEGATIVE_INFINITY;
    const take = () => {
      timer = undefined;
      last = Date.now();
      calm.value = source.peek();
    };
    const stop = effect(() => {
      void source.value;
      const wait = last + EVERY_MS - Date.now();
      if (wait <= 0) take();
      else timer ??= setTimeout(take, wait);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [source, calm]);
  return calm;
}
