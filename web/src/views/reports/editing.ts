/** A report while it is edited: its text, the preview of it, what was kept in this browser, and saving. */

import { batch, computed, signal } from "@preact/signals";
import { ApiError, call, isAbort } from "../../lib/api";
import type { ReportBlock } from "../../lib/report-blocks";
import type { ReportPage, ReportProblem } from "../../lib/schema";
import { forgetStored, readStored, writeStored } from "../../lib/stored";

const PREVIEW_REST_MS = 250;
const KEEP_REST_MS = 500;

/** What this browser kept of a text that was not saved. */
export interface Kept {
  text: string;
  base: number;
  time: number;
}

const storedName = (id: string): string => `report-draft.${id}`;

export function keptDraft(id: string): Kept | null {
  try {
    const kept = JSON.parse(readStored(storedName(id)) ?? "null") as Partial<Kept> | null;
    return kept && typeof kept.text === "string" && typeof kept.base === "number" && typeof kept.time === "number"
      ? (kept as Kept)
      : null;
  } catch {
    return null;
  }
}

export class Editing {
  readonly text;
  readonly blocks = signal<readonly ReportBlock[]>([]);
  readonly title = signal("");
  readonly problems = signal<readonly ReportProblem[]>([]);
  /** Why there is no fresh preview. */
  readonly fault = signal<unknown>(null);
  readonly previewing = signal(false);
  readonly saving = signal(false);
  /** Somebody saved a newer version since this text was begun. */
  readonly conflict = signal<ReportPage | null>(null);
  readonly base;
  private readonly savedText;
  readonly dirty = computed(() => this.text.value !== this.savedText.value);

  private previewTimer: ReturnType<typeof setTimeout> | undefined;
  private keepTimer: ReturnType<typeof setTimeout> | undefined;
  private stop: AbortController | null = null;

  /** `id` is null for a report that is not there yet; `saved` is the text as it lies on the server. */
  constructor(
    readonly id: string | null,
    saved: string,
    base: number,
    begin = saved,
    /** For panels of a text that names no runs. */
    private readonly runs: readonly string[] = [],
  ) {
    this.savedText = signal(saved);
    this.base = signal(base);
    this.text = signal(begin);
    void this.preview();
  }

  setText(text: string): void {
    if (text === this.text.peek()) return;
    this.text.value = text;
    clearTimeout(this.previewTimer);
    this.previewTimer = setTimeout(() => void this.preview(), PREVIEW_REST_MS);
    clearTimeout(this.keepTimer);
    this.keepTimer = setTimeout(() => this.keep(), KEEP_REST_MS);
  }

  /** Keeps what is not saved in this browser, and forgets it when there is nothing to keep. */
  keep(): void {
    clearTimeout(this.keepTimer);
    const name = storedName(this.id ?? "new");
    if (!this.dirty.peek()) return forgetStored(name);
    const kept: Kept = { text: this.text.peek(), base: this.base.peek(), time: Date.now() / 1000 };
    writeStored(name, JSON.stringify(kept));
  }

  forget(): void {
    clearTimeout(this.keepTimer);
    forgetStored(storedName(this.id ?? "new"));
  }

  async preview(): Promise<void> {
    this.stop?.abort();
    const stop = (this.stop = new AbortController());
    this.previewing.value = true;
    try {
      const answer = await call(
        "POST /api/report/preview",
        { text: this.text.peek(), runs: [...this.runs] },
        { signal: stop.signal },
      );
      batch(() => {
        this.blocks.value = answer.blocks;
        this.problems.value = answer.problems;
        this.title.value = answer.title;
        this.fault.value = null;
      });
    } catch (fault) {
      if (isAbort(fault)) return;
      this.fault.value = fault;
    } finally {
      if (this.stop === stop) this.previewing.value = false;
    }
  }

  /** Saves a version; gives its report's id, or null when there is a newer version or the server refused. */
  async save(): Promise<string | null> {
    if (this.saving.peek()) return null;
    this.saving.value = true;
    const text = this.text.peek();
    try {
      const saved = await call("POST /api/report/save", { id: this.id, text, base: this.base.peek() });
      batch(() => {
        this.base.value = saved.version;
        this.savedText.value = text;
        this.conflict.value = null;
      });
      this.keep();
      return saved.id;
    } catch (fault) {
      if (!(fault instanceof ApiError) || fault.status !== 409 || !this.id) throw fault;
      this.conflict.value = await call("POST /api/report", { id: this.id });
      return null;
    } finally {
      this.saving.value = false;
    }
  }

  /** After a conflict: this text goes on top of theirs, or theirs is taken. */
  settleConflict(mine: boolean): void {
    const theirs = this.conflict.peek();
    if (!theirs) return;
    batch(() => {
      this.base.value = theirs.version;
      this.savedText.value = theirs.text;
      this.conflict.value = null;
    });
    if (!mine) this.setText(theirs.text);
  }

  close(): void {
    this.keep();
    clearTimeout(this.previewTimer);
    this.stop?.abort();
  }
}
