/** What a media panel shows: each run's items at a step, fetched when visible and again when runs change. */

import { useComputed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useAsker } from "../../components/use-asker";
import { ApiError, call } from "../../lib/api";
import { panelId } from "../../lib/chart-sections";
import { type PanelOptions, withOptions } from "../../lib/chart-settings";
import type { MediaData, PanelInfo } from "../../lib/schema";
import { useScope } from "./scope";

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

export function useMedia(info: PanelInfo): MediaState {
  const { drawnRuns, pulse, settings } = useScope();
  const { panelOptions } = settings;
  const [data, setData] = useState<MediaData | null>(null);
  const [error, setError] = useState<string | null>(null);
  const id = panelId(info);
  const { step = null, item = 0 } = panelOptions.value[id] ?? {};
  const setOwn = (change: PanelOptions) => (panelOptions.value = withOptions(panelOptions.peek(), id, change));
  const [again, setAgain] = useState(0);
  const runs = useComputed(() => drawnRuns.value.slice(0, MOST_RUNS));
  const asked = runs.value.join();
  const beat = pulse.value;
  const asker = useAsker();
  useEffect(() => {
    const ask = async (stop: AbortSignal) => {
      try {
        setData(await call("POST /api/media", { runs: asked.split(","), key: info.key, step }, { signal: stop }));
        setError(null);
      } catch (fault) {
        if (!stop.aborted) setError(fault instanceof ApiError ? fault.message : String(fault));
      }
    };
    const timer = setTimeout(() => {
      if (asked) return void asker.ask(JSON.stringify([asked, info.key, step]), ask);
      asker.stop();
      setData({ items: [], steps: [] });
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [info.key, asked, step, again, beat]);
  const steps = [...new Set(data?.steps.flatMap((s) => s.steps))].sort((a, b) => a - b);
  return {
    data,
    error,
    steps,
    step,
    setStep: (to) => setOwn({ step: to ?? undefined }),
    index: Math.max(0, item),
    setIndex: (to) => setOwn({ item: to || undefined }),
    retry: () => setAgain(again + 1),
  };
}
