/** Server-sent events with an honest state: what is shown is live, or it says since when it is not. */

import { signal } from "@preact/signals";
import { ApiError, call } from "./api";
import type { Live } from "./schema";

export type LiveState =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "retrying"; since: number; attempt: number; retryAt: number }
  /** The server is there and does not know this page: it was started anew with another token. */
  | { kind: "denied" };

export const liveState = signal<LiveState>({ kind: "connecting" });
/** The newest event; views compare versions and fetch what changed. */
export const liveEvent = signal<Live | null>(null);

type Listener = (event: Live) => void;
const listeners = new Set<Listener>();

/** Calls back for every event (a signal alone may skip one); returns how to stop. */
export function onLive(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back when the server is there again after it was not: what happened meanwhile was told to nobody. */
export function onReturn(listener: () => void): () => void {
  let away = false;
  return liveState.subscribe((state) => {
    if (state.kind === "live" && away) listener();
    away = state.kind === "retrying" || state.kind === "denied";
  });
}

/** 1, 2, 4 … 30 seconds, spread by up to a quarter so that many pages do not return at once. */
export function backoffMs(attempt: number, random: number): number {
  return Math.round(Math.min(30_000, 1000 * 2 ** Math.min(attempt, 10)) * (1 + random / 4));
}

const DENIED_MS = 4000;

let source: EventSource | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let attempt = 0;
let since = 0;

export function startLive(url = "/api/live"): void {
  clearTimeout(timer);
  source?.close();
  source = new EventSource(url);
  source.onopen = () => {
    attempt = 0;
    liveState.value = { kind: "live" };
  };
  source.onmessage = (message) => take(String(message.data));
  source.onerror = () => retry(url);
}

/** Tries again at once, when a person asks. */
export function retryNow(url = "/api/live"): void {
  startLive(url);
}

function take(data: string): void {
  const event = JSON.parse(data) as Live;
  liveEvent.value = event;
  for (const listener of listeners) listener(event);
}

function retry(url: string): void {
  source?.close();
  source = null;
  const now = Date.now();
  if (attempt === 0) since = now;
  const wait = backoffMs(attempt, Math.random());
  attempt++;
  liveState.value = { kind: "retrying", since, attempt, retryAt: now + wait };
  timer = setTimeout(() => startLive(url), wait);
  void noticeDenial();
}

/** An event source cannot tell a refusal from a dead line; an ordinary request can. */
async function noticeDenial(): Promise<void> {
  const denied = await call("GET /api/info", {}).then(
    () => false,
    (fault: unknown) => fault instanceof ApiError && (fault.status === 401 || fault.status === 403),
  );
  if (!denied || liveState.peek().kind !== "retrying") return;
  clearTimeout(timer);
  liveState.value = { kind: "denied" };
  timer = setTimeout(() => void lookForAccess(), DENIED_MS);
}

/** Somebody may open the new address in another tab: the browser then has the new token, and this page goes on too. */
async function lookForAccess(): Promise<void> {
  if (liveState.peek().kind !== "denied") return;
  const known = await call("GET /api/info", {}).then(
    () => true,
    () => false,
  );
  if (liveState.peek().kind !== "denied") return;
  if (known) return startLive();
  timer = setTimeout(() => void lookForAccess(), DENIED_MS);
}
