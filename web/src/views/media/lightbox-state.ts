/** Which picture is looked at closely, and how. */

import { signal } from "@preact/signals";
import type { MediaItem } from "../../lib/schema";

export interface Looking {
  key: string;
  kind: string;
  index: number;
  /** The run whose picture was clicked: first among the panes. */
  run: string;
  /** Whose lightbox it is. */
  owner: string;
}

export type LookMode = "side" | "wipe" | "difference";
/** What stands beside what: the runs at one step, or one run at two steps. */
export type Against = "runs" | "steps";

export const looking = signal<Looking | null>(null);
export const mode = signal<LookMode>("side");
export const against = signal<Against>("runs");

export function openLarge(item: MediaItem, owner: string): void {
  looking.value = { key: item.key, kind: item.kind, index: item.index, run: item.run, owner };
}
