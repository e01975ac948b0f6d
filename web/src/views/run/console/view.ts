/** What is on the screen of one console: the place, whether it follows the end, the match that is looked at. */

import { signal } from "@preact/signals";
import { toast } from "../../../components";
import { LINE, type Scroll, scrollOf, scrollTopOf } from "../../../lib/console-scroll";
import type { ConsoleLines } from "./data";

export class ConsoleView {
  /** At the end, and staying there while lines come. */
  readonly following = signal(true);
  /** The row of the match that is looked at, and its place among them. */
  readonly match = signal<{ row: number; nth: number } | null>(null);
  /** A row that shines up once: where a jump has led. */
  readonly shining = signal(-1);
  /** Rows that were there when the end was left. */
  readonly leftAt = signal(0);
  readonly size = signal({ top: 0, height: 600 });
  /** How many lines fill the view at the end; null: as its height says. */
  readonly tail = signal<number | null>(null);
  element: HTMLElement | null = null;

  constructor(readonly lines: ConsoleLines) {}

  get scroll(): Scroll {
    const rows = this.lines.info.value?.rows ?? 0;
    return scrollOf(rows, this.size.value.height, this.tail.value ?? this.size.value.height / LINE);
  }

  goTo(row: number): void {
    this.leftAt.value = this.lines.info.peek()?.rows ?? 0;
    this.shining.value = row;
    const top = scrollTopOf(this.scroll, row, this.size.peek().height);
    this.following.value = top >= Math.floor(this.scroll.lastTop * this.scroll.pitch) - 4;
    if (this.element) this.element.scrollTop = top;
    this.size.value = { ...this.size.peek(), top };
  }

  goToEnd(): void {
    this.following.value = true;
    if (this.element) this.element.scrollTop = this.element.scrollHeight;
  }

  goToStart(): void {
    this.following.value = false;
    if (this.element) this.element.scrollTop = 0;
  }

  /** Wherever the view is: the row at its top. */
  topRow(): number {
    return Math.floor(this.size.peek().top / this.scroll.pitch);
  }

  async goToMatch(what: "next" | "previous"): Promise<void> {
    // Without a match that is looked at: from what is on the screen.
    const seen = Math.ceil(this.size.peek().height / LINE);
    const at = this.match.peek()?.row ?? (what === "next" ? this.topRow() - 1 : this.topRow() + seen + 1);
    await guarded(async () => {
      const found = await this.lines.find(what, { row: at });
      if (!found || found.row === null) return;
      this.match.value = { row: found.row, nth: found.nth };
      this.goTo(found.row);
    });
  }

  async goToNumber(what: "line" | "step", number: number): Promise<boolean> {
    let done = false;
    await guarded(async () => {
      const found = await this.lines.find(what, { number });
      if (!found || found.row === null) return;
      this.goTo(found.row);
      done = true;
    });
    return done;
  }
}

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (fault) {
    toast(fault instanceof Error ? fault.message : String(fault), "warning");
  }
}
