/** What a media panel shows: each run's items at a step, fetched when visible and again when runs change. */

import { useComputed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ApiError, call } from "../../lib/api";
import type { MediaData, PanelInfo } from "../../lib/schema";
import { drawnRuns, pulse } from "./model";

const MOST_RUNS = 24;
const REST_MS = 60;

export interface MediaState {
  data: MediaData | null;
  error: string | null;
  /** All steps at which any of the runs logged something, in order. */
  steps: number[];
  /** The step shown; null follows the newest. */
  step: number | null;
  setStep(step: number | null): void;
  index: number;
  setIndex(index: number): void;
  retry(): void;
}

export const mediaRuns = () => drawnRuns.value.slice(0, MOST_RUNS);

export function useMedia(info: PanelInfo): MediaState {
  const [data, setData] = useState<MediaData | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [step, setStep] = useState<number | null>(null);
  const [index, setIndex] = useState(0);
  const [again, setAgain] = useState(0);
  const runs = useComputed(mediaRuns);
  const asked = runs.value.join();
  const beat = pulse.value;
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      if (!asked) return setData({ items: [], steps: [] });
      try {
        setData(await call("POST /api/media", { runs: asked.split(","), key: info.key, step }, { signal: stop.signal }));
        setError(null);
      } catch (fault) {
        if (stop.signal.aborted) return;
        setError(fault instanceof ApiError ? fault.message : String(fault));
      }
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [info.key, asked, step, again, beat]);
  const steps = [...new Set(data?.steps.flatMap((s) => s.steps))].sort((a, b) => a - b);
  return { data, error, steps, step, setStep, index, setIndex, retry: () => setAgain(again + 1) };
}
