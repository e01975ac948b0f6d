import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backoffMs, liveEvent, liveState, onLive, onReturn, startLive } from "./live";

class FakeSource {
  static all: FakeSource[] = [];
  onopen?: () => void;
  onerror?: () => void;
  onmessage?: (message: { data: string }) => void;
  closed = false;
  constructor(readonly url: string) {
    FakeSource.all.push(this);
  }
  close(): void {
    this.closed = true;
  }
}

beforeEach(() => {
  FakeSource.all = [];
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", FakeSource);
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("waits longer each time, at most half a minute and a bit", () => {
  expect([0, 1, 2, 3, 10, 99].map((attempt) => backoffMs(attempt, 0))).toEqual([
    1000, 2000, 4000, 8000, 30_000, 30_000,
  ]);
  expect(backoffMs(0, 1)).toBe(1250);
});

test("says that it is live, that it is not, and is live again by itself", () => {
  startLive("/x");
  const first = FakeSource.all[0] as FakeSource;
  first.onopen?.();
  expect(liveState.value.kind).toBe("live");
  first.onerror?.();
  expect(first.closed).toBe(true);
  expect(liveState.value).toMatchObject({ kind: "retrying", attempt: 1 });
  vi.advanceTimersByTime(1300);
  FakeSource.all[1]?.onerror?.();
  expect(liveState.value).toMatchObject({ kind: "retrying", attempt: 2 });
  vi.advanceTimersByTime(2600);
  FakeSource.all[2]?.onopen?.();
  expect(liveState.value.kind).toBe("live");
});

test("tells that the server is back, once each time it was away", () => {
  startLive("/x");
  FakeSource.all[0]?.onopen?.();
  const told = vi.fn();
  const stop = onReturn(told);
  expect(told).toHaveBeenCalledTimes(0);
  FakeSource.all[0]?.onerror?.();
  vi.advanceTimersByTime(1300);
  FakeSource.all[1]?.onopen?.();
  FakeSource.all[1]?.onopen?.();
  expect(told).toHaveBeenCalledTimes(1);
  stop();
});

test("says so when the server is there but does not know this page", async () => {
  vi.stubGlobal("fetch", async () => new Response("{}", { status: 401 }));
  startLive("/x");
  FakeSource.all[0]?.onerror?.();
  await vi.waitFor(() => expect(liveState.value.kind).toBe("denied"));
  vi.advanceTimersByTime(60_000);
  expect(FakeSource.all.length).toBe(1);
});

test("every event reaches every listener until it stops", () => {
  const seen: number[] = [];
  const stop = onLive((event) => seen.push(event.version));
  startLive("/x");
  const send = (version: number) =>
    FakeSource.all[0]?.onmessage?.({ data: JSON.stringify({ version, changed: [], gone: [], notices: [] }) });
  send(1);
  send(2);
  stop();
  send(3);
  expect(seen).toEqual([1, 2]);
  expect(liveEvent.value?.version).toBe(3);
});
