/** Answers about media, kept for a while: moving the slider back and forth asks the server once per stop. */

import type { MediaData } from "./schema";

const MOST_ANSWERS = 160;
const MOST_CHARACTERS = 48 << 20;

type Ask = (runs: readonly string[], key: string, step: number | null, stop?: AbortSignal) => Promise<MediaData>;

interface Kept {
  data: MediaData;
  size: number;
}

/** Bounded by number and by size; the one used longest ago goes first. */
export class MediaCache {
  private readonly kept = new Map<string, Kept>();
  private readonly waiting = new Map<string, Promise<MediaData>>();
  private size = 0;

  constructor(
    private readonly ask: Ask,
    private readonly most = MOST_ANSWERS,
    private readonly mostCharacters = MOST_CHARACTERS,
  ) {}

  get count(): number {
    return this.kept.size;
  }

  private static name(runs: readonly string[], key: string, step: number | null): string {
    return `${runs.join()}\n${step ?? "newest"}\n${key}`;
  }

  /** What is here already, without asking. */
  peek(runs: readonly string[], key: string, step: number | null): MediaData | null {
    const name = MediaCache.name(runs, key, step);
    const found = this.kept.get(name);
    if (!found) return null;
    this.kept.delete(name);
    this.kept.set(name, found);
    return found.data;
  }

  async get(runs: readonly string[], key: string, step: number | null): Promise<MediaData> {
    const here = this.peek(runs, key, step);
    if (here) return here;
    const name = MediaCache.name(runs, key, step);
    let asked = this.waiting.get(name);
    if (!asked) {
      asked = this.ask(runs, key, step).finally(() => this.waiting.delete(name));
      this.waiting.set(name, asked);
    }
    const data = await asked;
    this.put(name, data);
    return data;
  }

  /** Forgets everything: a run went on, so what is newest may have changed. */
  clear(): void {
    this.kept.clear();
    this.waiting.clear();
    this.size = 0;
  }

  private put(name: string, data: MediaData): void {
    this.drop(name);
    const size = data.items.reduce((sum, item) => sum + (item.text?.length ?? 0) + (item.url?.length ?? 0) + 300, 0);
    this.kept.set(name, { data, size });
    this.size += size;
    while (this.kept.size > this.most || (this.size > this.mostCharacters && this.kept.size > 1)) {
      this.drop(this.kept.keys().next().value as string);
    }
  }

  private drop(name: string): void {
    const old = this.kept.get(name);
    if (!old) return;
    this.kept.delete(name);
    this.size -= old.size;
  }
}
