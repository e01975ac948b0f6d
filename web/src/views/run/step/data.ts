/** The ops of one recording: pages of rows that pass the filters. */

import { batch, signal } from "@preact/signals";
import { call, isAbort } from "../../../lib/api";
import type { OpRow, StepOps } from "../../../lib/schema";
import type { OpFilters } from "./settings";

export const PAGE = 100;
const MOST_PAGES = 60;

export interface Recording {
  run: string;
  key: string;
  step: number;
}

export class OpPages {
  readonly info = signal<StepOps | null>(null);
  readonly fault = signal<unknown>(null);
  readonly drawn = signal(0);
  private pages = new Map<number, OpRow[]>();
  private asked = new Map<number, AbortController>();
  private applied: OpFilters | null = null;

  constructor(readonly recording: Recording) {}

  close(): void {
    for (const control of this.asked.values()) control.abort();
  }

  row(at: number): OpRow | undefined {
    return this.pages.get(Math.floor(at / PAGE))?.[at % PAGE];
  }

  async filter(wanted: OpFilters): Promise<void> {
    this.close();
    this.asked.clear();
    this.applied = wanted;
    await this.fetch(0, true);
  }

  need(start: number, end: number): void {
    const total = this.info.peek()?.total ?? 0;
    for (let page = Math.floor(start / PAGE); page * PAGE < Math.min(end, total); page++) {
      if (!this.pages.has(page) && !this.asked.has(page)) void this.fetch(page);
    }
  }

  private async fetch(page: number, fresh = false): Promise<void> {
    if (!this.applied) return;
    const control = new AbortController();
    this.asked.set(page, control);
    try {
      const found = await call(
        "POST /api/step/ops",
        { ...this.recording, ...this.applied, start: page * PAGE, count: PAGE },
        { signal: control.signal },
      );
      if (control.signal.aborted) return;
      if (fresh) this.pages.clear();
      this.pages.set(page, found.rows);
      for (const old of this.pages.keys()) if (this.pages.size > MOST_PAGES) this.pages.delete(old);
      batch(() => {
        this.fault.value = null;
        this.info.value = { ...found, rows: [] };
        this.drawn.value++;
      });
    } catch (error) {
      if (!isAbort(error)) this.fault.value = error;
    } finally {
      if (this.asked.get(page) === control) this.asked.delete(page);
    }
  }
}
