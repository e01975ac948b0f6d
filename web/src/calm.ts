/**
 * A signal that follows another at a person's pace: for words that are read aloud, which need no update with every
 * point.
 */

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";

const EVERY_MS = 4000;

/**
 * Until `worth` is true of a value, changes are passed on at once: "no lines" must not stand for seconds beside a
 * chart.
 */
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

const LATEST_MS = 1000;

/** False until the page has nothing better to do: for what nobody sees, such as tables for screen readers. */
export function useRested(): boolean {
  const [rested, setRested] = useState(false);
  useEffect(() => {
    if (typeof requestIdleCallback === "undefined") {
      const timer = setTimeout(() => setRested(true), LATEST_MS / 2); // Safari
      return () => clearTimeout(timer);
    }
    const asked = requestIdleCallback(() => setRested(true), { timeout: LATEST_MS });
    return () => cancelIdleCallback(asked);
  }, []);
  return rested;
}
