/** What the board shows: which keys there are, and each key's items at the step, fetched when they come into view. */

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAsker } from "../../components/use-asker";
import { ApiError, call } from "../../lib/api";
import { onLive } from "../../lib/live";
import { MediaCache } from "../../lib/media-cache";
import type { MediaData, MediaIndex, MediaItem } from "../../lib/schema";
import { meet, newest, project, remember } from "../../state";

/** More columns than this are not looked at together. */
export const MOST_RUNS = 24;
const REST_MS = 40;
const BEAT_MS = 600;

export const cache = new MediaCache((runs, key, step) => call("POST /api/media", { runs: [...runs], key, step }));
/** Grows when runs on the board went on: the list of keys is asked for again. */
const beat = signal(0);
/** Grows when they have logged media meanwhile: what is shown is asked for again. */
const fresh = signal(0);

export function errorWords(fault: unknown): string {
  return fault instanceof ApiError ? fault.message : String(fault);
}

/** Follows the runs while a board is open. */
export function useLiveMedia(runs: readonly string[]): void {
  const asked = runs.join();
  useEffect(() => {
    const here = new Set(asked.split(","));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onLive((event) => {
      if (!event.changed.some((change) => here.has(change.id))) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        beat.value++;
      }, BEAT_MS);
    });
    return () => (clearTimeout(timer), stop());
  }, [asked]);
}

export interface Loaded<T> {
  data: T | null;
  error: string | null;
  retry(): void;
}

/** The keys of these runs. A late answer to an older question is dropped; an answer that changes nothing is too. */
export function useMediaIndex(runs: readonly string[]): Loaded<MediaIndex> {
  const [data, setData] = useState<MediaIndex | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [again, setAgain] = useState(0);
  const last = useRef("");
  const asked = runs.join();
  const now = beat.value;
  const asker = useAsker();
  useEffect(() => {
    const ids = asked ? asked.split(",") : [];
    void meet(ids).catch(() => undefined); // names are a comfort: without them the ids stand there
    const take = (answer: MediaIndex) => {
      setError(null);
      const said = JSON.stringify(answer);
      if (said === last.current) return;
      // A run that only logs numbers changes nothing here, and asks for nothing more.
      if (last.current !== "") {
        cache.clear();
        fresh.value++;
      }
      last.current = said;
      setData(answer);
    };
    void asker.ask(asked, (stop) =>
      call("POST /api/media/index", { runs: ids }, { signal: stop }).then(
        take,
        (fault) => stop.aborted || setError(errorWords(fault)),
      ),
    );
  }, [asked, again, now]);
  return { data, error, retry: () => setAgain(again + 1) };
}

/** One key's items at a step. While the next step's are on their way, those before stay. */
export function useItems(
  runs: readonly string[],
  key: string,
  step: number | null,
  active: boolean,
): Loaded<MediaData> & { waiting: boolean } {
  const [shown, setShown] = useState<{ of: string; data: MediaData } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [again, setAgain] = useState(0);
  const asked = runs.join();
  const now = fresh.value;
  const wanted = `${asked}\n${key}`;
  const here = active && asked ? cache.peek(runs, key, step) : null;
  useEffect(() => {
    if (!active || !asked) return;
    let current = true;
    const take = (data: MediaData) => {
      if (!current) return;
      setShown({ of: wanted, data });
      setError(null);
    };
    const kept = cache.peek(runs, key, step);
    if (kept) return take(kept);
    const timer = setTimeout(
      () => cache.get(runs, key, step).then(take, (fault) => current && setError(errorWords(fault))),
      REST_MS,
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [asked, key, step, active, again, now]);
  const data = here ?? (shown?.of === wanted ? shown.data : null);
  return { data, error, waiting: data === null && error === null, retry: () => (setError(null), setAgain(again + 1)) };
}

const WARM = 64;
const warm: HTMLImageElement[] = [];

/** Has the browser fetch and decode pictures that will likely be asked for next. Only the last few are held. */
function warmUp(items: readonly MediaItem[]): void {
  for (const item of items) {
    if (!item.mime.startsWith("image/") || !item.url?.startsWith("/api/blob/")) continue;
    const image = new Image();
    image.decoding = "async";
    image.src = item.url;
    warm.push(image);
  }
  warm.splice(0, warm.length - WARM);
}

/** Fetches the neighbours of the slider for a key that is on the screen, once it rests. */
export function usePrefetch(
  runs: readonly string[],
  key: string,
  steps: readonly (number | null)[],
  active: boolean,
): void {
  const ahead = steps.join();
  useEffect(() => {
    if (!active || steps.length === 0) return;
    let current = true;
    const timer = setTimeout(async () => {
      for (const step of steps) {
        if (!current) return;
        try {
          warmUp((await cache.get(runs, key, step)).items);
        } catch {
          return; // it was only a guess; the real question will say what is wrong
        }
      }
    }, 250);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [runs.join(), key, ahead, active]);
}

const AUTO_RUNS = 10;

/** The newest runs, for when none is chosen. */
export async function loadNewest(): Promise<void> {
  const name = project.peek();
  const query = name ? `project = "${name.replace(/[\\"]/g, "\\$&")}"` : "";
  const page = await call("POST /api/runs", { query, sort: "created", descending: true, limit: AUTO_RUNS });
  if (name !== project.peek()) return; // another project was chosen meanwhile, and is asked about
  remember(page.rows);
  const ids = page.rows.map((row) => row.id);
  if (ids.join() !== newest.peek()?.join()) newest.value = ids;
}
