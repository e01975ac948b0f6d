/** The lines of one run: pages of rows that came, what is known of the rest, and where to look. */

import { batch, signal } from "@preact/signals";
import { ApiError, call, isAbort } from "../../../lib/api";
import { onLive, onReturn } from "../../../lib/live";
import type { ConsoleFindRequest, ConsoleFound, ConsoleLine, ConsoleWindow } from "../../../lib/schema";
import { type Filters, filters } from "./settings";

export const PAGE = 250;
const MOST_PAGES = 60;
const PULSE_MS = 700;
/** How far back the rewriting of lines may reach: pages before that stay as they are. */
const UNSETTLED = 500;

export class ConsoleLines {
  /** What is known besides the lines; null until the first answer. */
  readonly info = signal<ConsoleWindow | null>(null);
  readonly fault = signal<unknown>(null);
  /** Grows whenever lines came. */
  readonly drawn = signal(0);
  /** A pattern that is none. */
  readonly badSearch = signal<{ message: string; position: number | null } | null>(null);
  private pages = new Map<number, ConsoleLine[]>();
  private stale = new Set<number>();
  private asked = new Map<number, AbortController>();
  private applied: Filters = filters.peek();
  private closed = false;
  /** The run has printed more while the last rows were on their way. */
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly stopLive: (() => void)[];

  constructor(readonly run: string) {
    this.stopLive = [
      onLive((event) => {
        if (this.timer || !event.changed.some((one) => one.id === run)) return;
        this.timer = setTimeout(() => ((this.timer = undefined), void this.renew()), PULSE_MS);
      }),
      // The server is back: what could not be fetched, and what was printed meanwhile, is asked for again.
      onReturn(() => void this.renew()),
    ];
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    for (const stop of this.stopLive) stop();
    for (const control of this.asked.values()) control.abort();
  }

  line(row: number): ConsoleLine | undefined {
    return this.pages.get(Math.floor(row / PAGE))?.[row % PAGE];
  }

  /** Other filters: nothing that is here is valid any more. The last page comes first, as in a terminal. */
  async filter(wanted: Filters): Promise<void> {
    this.applied = wanted;
    this.forget();
    await this.fetch(-1);
  }

  private forget(): void {
    for (const control of this.asked.values()) control.abort();
    this.asked.clear();
    this.pages.clear();
    this.stale.clear();
  }

  /** Makes sure that these rows are here, or on their way. */
  need(start: number, end: number): void {
    const rows = this.info.peek()?.rows ?? 0;
    for (let page = Math.floor(start / PAGE); page * PAGE < Math.min(end, rows); page++) {
      if ((!this.pages.has(page) || this.stale.has(page)) && !this.asked.has(page)) void this.fetch(page);
    }
  }

  /** The run has printed more, or the search has not looked at all yet. */
  private async renew(): Promise<void> {
    if (this.closed) return;
    if (this.asked.has(-1))
      this.again = true; // lines that come faster than answers must not stop every answer
    else await this.fetch(-1);
  }

  /** Fetches a page; -1 for the last rows, which say how many there are. */
  private async fetch(page: number): Promise<void> {
    const control = new AbortController();
    this.asked.get(page)?.abort();
    this.asked.set(page, control);
    try {
      const start = page < 0 ? -PAGE : page * PAGE;
      const found = await call(
        "POST /api/console",
        { run: this.run, start, count: PAGE, ...this.applied },
        { signal: control.signal },
      );
      if (!control.signal.aborted) this.take(found, page);
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof ApiError && error.status === 400)
        this.badSearch.value = { message: error.message, position: error.position };
      else this.fault.value = error;
    } finally {
      if (this.asked.get(page) === control) this.answered(page);
    }
  }

  private answered(page: number): void {
    this.asked.delete(page);
    if (page >= 0 || !this.again) return;
    this.again = false;
    void this.renew();
  }

  private take(found: ConsoleWindow, page: number): void {
    const before = this.info.peek();
    if (before && before.built !== found.built) this.forget();
    const settled = Math.max(0, Math.min(before?.rows ?? 0, found.rows) - UNSETTLED);
    if (before?.rows !== found.rows || before.rewritten !== found.rewritten) {
      for (const one of this.pages.keys()) if ((one + 1) * PAGE > settled || this.applied.only) this.stale.add(one);
    }
    if (page < 0) this.takeTail(found);
    else this.put(page, found.lines);
    batch(() => {
      this.fault.value = null;
      this.badSearch.value = null;
      this.info.value = { ...found, lines: [] };
      this.drawn.value++;
    });
    if (found.searched < found.total) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => ((this.timer = undefined), void this.renew()), 30);
    }
  }

  /** The last rows rarely begin where a page does. */
  private takeTail(found: ConsoleWindow): void {
    for (let page = Math.floor(found.start / PAGE); page * PAGE < found.rows; page++) {
      const from = page * PAGE - found.start;
      if (from >= 0) this.put(page, found.lines.slice(from, from + PAGE));
      else {
        const head = this.pages.get(page)?.slice(0, found.start - page * PAGE);
        if (head && head.length === -from && !this.stale.has(page))
          this.put(page, [...head, ...found.lines.slice(0, PAGE + from)]);
      }
    }
  }

  private put(page: number, lines: ConsoleLine[]): void {
    this.pages.delete(page);
    this.pages.set(page, lines);
    this.stale.delete(page);
    for (const old of this.pages.keys()) {
      if (this.pages.size <= MOST_PAGES) break;
      this.pages.delete(old);
    }
  }

  /** Where something stands; asks again until the search has looked far enough. */
  async find(what: ConsoleFindRequest["what"], about: { row?: number; number?: number }): Promise<ConsoleFound | null> {
    for (let tries = 0; tries < 200 && !this.closed; tries++) {
      const found = await call("POST /api/console/find", { run: this.run, what, ...about, ...this.applied });
      if (found.row !== null || !found.more) return found;
    }
    return null;
  }

  async copy(first: number, last: number): Promise<{ text: string; lines: number; cut?: boolean }> {
    const { rank, stream, rewrites } = this.applied;
    return call("POST /api/console/copy", { run: this.run, first, last, rank, stream, rewrites });
  }
}
