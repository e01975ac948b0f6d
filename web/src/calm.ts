/** A signal that follows another at a person's pace: for words that are read aloud, which need no update with every point. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";

const EVERY_MS = 4000;

/** Until `worth` is true of a value, changes are passed on at once: "no lines" must not stand for seconds beside a chart. */
export function useCalm<T>(source: ReadonlySignal<T>, worth: (value: T) => boolean): ReadonlySignal<T> {
  const calm = useMemo(() => signal(source.peek()), [source]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = Number.NEGATIVE_INFINITY;
    const take = () => {
      timer = undefined;
      calm.value = source.peek();
      if (worth(calm.value)) last = Date.now();
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
  }, [source, calm, worth]);
  return calm;
}

const REST_MS = 600;

/** False while what is on the screen comes first: for what nobody sees, such as tables for screen readers. */
export function useRested(): boolean {
  const [rested, setRested] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRested(true), REST_MS);
    return () => clearTimeout(timer);
  }, []);
  return rested;
}
