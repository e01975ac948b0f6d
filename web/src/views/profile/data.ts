/** Which profiles there are, the one on the page, and what its analyses answered. */

import { computed, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { call, isAbort } from "../../lib/api";
import { liveEvent } from "../../lib/live";
import type { Live, ProfileAnswer, ProfilePage, RunProfiles, ShownProfile } from "../../lib/schema";
import { number, oneOf, text } from "../../lib/url";
import { param } from "../../router";
import { project, remember, selected } from "../../state";

export const TABS = [
  "overview",
  "operators",
  "kernels",
  "modules",
  "python",
  "timeline",
  "memory",
  "data",
  "ranks",
  "diff",
] as const;
export type Tab = (typeof TABS)[number];

/** The run on the page; "" for the newest one (of the chosen runs, if any are chosen) that has a profile. */
export const run = param<string>("of", "", text, true);
/** The profile's id; "" for the newest. */
export const profile = param<string>("profile", "", text, true);
/** -1: the first rank there is. */
export const rank = param<number>("rank", -1, number, true);
export const tab = param<Tab>("tab", "overview", oneOf(...TABS), true);

/** Runs that may have a profile, the newest first. */
export const runs = signal<readonly string[] | null>(null);
export const listed = signal<{ run: string; found: RunProfiles } | null>(null);
export const page = signal<{ run: string; page: ProfilePage } | null>(null);
export const fault = signal<unknown>(null);
/** The chosen profile cannot be read: said in its place, while others can still be chosen. */
export const pageFault = signal<unknown>(null);
export const loading = signal(false);

const listedRun = computed(() => listed.value?.run ?? "");

/** How many runs are asked for profiles until one has any. */
const LOOKED_AT = 30;

const same = (a: ShownProfile | null, b: ShownProfile | null) => JSON.stringify(a) === JSON.stringify(b);
let before: ShownProfile | null = null;

export const chosen = computed<ShownProfile | null>(() => {
  const found = choose();
  if (!same(found, before)) before = found;
  return before; // the same object for the same profile, so that a longer list does not load the page again
});

function choose(): ShownProfile | null {
  const all = listed.value?.found.profiles ?? [];
  const whole = all.filter((one) => one.error === null);
  const deep = whole.filter((one) => one.kind !== "simple"); // every run has its phases; who profiled wants the profile
  return (
    all.find((one) => one.id === profile.value) ??
    deep[deep.length - 1] ??
    whole[whole.length - 1] ??
    all[all.length - 1] ??
    null
  );
}

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

/** The chosen runs, or the newest of the project. */
export async function loadRuns(): Promise<void> {
  const of = project.peek();
  const query = of ? `project = ${quoted(of)}` : "";
  await guarded(fault, async () => {
    const found = await call("POST /api/runs", { query, sort: "created", descending: true, limit: LOOKED_AT });
    if (of !== project.peek()) return; // another project was chosen meanwhile, and is asked about
    remember(found.rows);
    version = found.version;
    const newest = found.rows.map((row) => row.id);
    const wanted = selected.peek().length > 0 ? [...selected.peek()] : newest;
    runs.value = run.peek() && !wanted.includes(run.peek()) ? [run.peek(), ...wanted] : wanted;
  });
  if (fault.peek() !== null) return;
  await loadProfiles();
  // This page's code comes later than the app's: an event may have come before anybody here listened.
  const missed = liveEvent.peek();
  if (missed && missed.version > version) {
    strangers = true;
    lookSoon();
  }
}

/** One run alone, without a choice of others. */
export async function loadOnly(id: string): Promise<void> {
  runs.value = [id];
  await loadProfiles();
}

/** The profiles of the run in the address, or of the first run that has some. */
export async function loadProfiles(): Promise<void> {
  await guarded(fault, async () => {
    const asked = run.peek();
    const among = runs.peek();
    if (!asked && among === null) return; // news came before it was known which runs there are
    const candidates = asked ? [asked] : (among ?? []).slice(0, LOOKED_AT);
    for (const id of candidates) {
      const found = await call("POST /api/profiles", { run: id });
      if (run.peek() !== asked || runs.peek() !== among) return; // another run, or others to look at
      if (found.profiles.length > 0 || asked || candidates.length === 1) return list(id, found);
    }
    list("", { profiles: [], omitted: 0, waiting_s: null, why_no_request: "" });
  });
}

/** A run that logs is asked again and again; what is the same draws nothing anew. */
function list(id: string, found: RunProfiles): void {
  const next = { run: id, found };
  if (JSON.stringify(next) !== JSON.stringify(listed.peek())) listed.value = next;
}

const PAUSE_MS = 2000;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** Looks again, soon, and only once however often it is asked. */
export function lookSoon(): void {
  waiting ??= setTimeout(() => {
    waiting = undefined;
    void (strangers ? loadRuns() : loadProfiles());
    strangers = false;
  }, PAUSE_MS);
}

let strangers = false;
/** Of the catalogue, when the runs were asked for. */
let version = -1;
/** Runs that were new once; an old one that is not listed and goes on is no reason to ask for all runs again. */
const met = new Set<string>();

/** Something happened in some runs: one may have a new profile, or be new itself. */
export function onChange(event: Live): void {
  const shown = listed.peek()?.run;
  const ids = event.changed.map((change) => change.id);
  const missed = ids.length === 0 && event.version !== version; // a line's first event: of what happened before it
  if (missed || ids.some((id) => runs.peek()?.includes(id) === false && !met.has(id))) strangers = true;
  for (const id of ids) met.add(id);
  if (strangers || !shown || ids.includes(shown)) lookSoon();
}

let stop: AbortController | null = null;

/** The profile that is chosen: what it is, and which tabs have something. */
export async function loadPage(): Promise<void> {
  const of = listedRun.value;
  const one = chosen.value;
  const wanted = rank.value >= 0 ? rank.value : null;
  stop?.abort();
  stop = new AbortController();
  const { signal: aborted } = stop;
  if (!of || !one || one.error !== null) {
    page.value = null;
    return;
  }
  const shown = page.peek();
  if (shown && (shown.run !== of || shown.page.profile.id !== one.id)) page.value = null;
  loading.value = true;
  await guarded(pageFault, async () => {
    const found = await call("POST /api/profile", { run: of, profile: one.id, rank: wanted }, { signal: aborted });
    page.value = { run: of, page: found };
  });
  if (!aborted.aborted) loading.value = false;
}

/** Forgets the page. */
export function leave(): void {
  stop?.abort();
  clearTimeout(waiting);
  waiting = undefined;
  page.value = null;
  listed.value = null;
  runs.value = null;
  kept.clear();
}

async function guarded(into: { value: unknown }, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    into.value = null;
  } catch (error) {
    if (!isAbort(error)) into.value = error;
  }
}

/** The place of the page that an answer belongs to. */
export interface Spot {
  run: string;
  profile: string;
  rank: number;
}

export function spotOf(shown: { run: string; page: ProfilePage }): Spot {
  return { run: shown.run, profile: shown.page.profile.id, rank: shown.page.rank };
}

/** Names what is kept of a profile; one that has grown, because a rank came later, is another. */
export function spotKey(spot: Spot): string {
  return `${spot.run} ${spot.profile} ${spot.rank} ${page.value?.page.profile.bytes ?? 0}`;
}

const MOST_KEPT = 40;
const kept = new Map<string, ProfileAnswer>();

export interface Asked {
  answer: ProfileAnswer | null;
  fault: unknown;
}

/** What an analysis answered; kept, so that going back to a tab shows it at once. */
export function useAnswer(spot: Spot, analysis: string): Asked {
  const key = `${spotKey(spot)} ${analysis}`;
  const [state, setState] = useState<Asked & { key: string }>({ key: "", answer: null, fault: null });
  useEffect(() => {
    if (!analysis || kept.has(key)) return;
    const control = new AbortController();
    call("POST /api/profile/answer", { ...spot, analysis }, { signal: control.signal }).then(
      (answer) => {
        if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value as string);
        kept.set(key, answer);
        setState({ key, answer, fault: null });
      },
      (error: unknown) => isAbort(error) || setState({ key, answer: null, fault: error }),
    );
    return () => control.abort();
  }, [key]);
  const here = kept.get(key);
  if (here) return { answer: here, fault: null };
  return state.key === key ? state : { answer: null, fault: null };
}
