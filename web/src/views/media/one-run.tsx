/** Kinds that need the whole width show one run at a time; which one is chosen by its chip. */

import { useState } from "preact/hooks";
import type { MediaItem } from "../../lib/schema";
import { RunChips } from "../charts/run-chips";

export interface Chosen {
  run: string;
  item: MediaItem;
  runs: string[];
  chips: preact.JSX.Element | null;
}

/** The item of the chosen run; the first run's while none was chosen. `items` is not empty. */
export function useOneRun(items: readonly MediaItem[]): Chosen {
  const [chosen, setChosen] = useState<string | null>(null);
  const runs = [...new Set(items.map((item) => item.run))];
  const run = chosen !== null && runs.includes(chosen) ? chosen : (runs[0] as string);
  const item = items.find((one) => one.run === run) as MediaItem;
  return {
    run,
    item,
    runs,
    chips: runs.length > 1 ? <RunChips runs={runs} chosen={run} onChoose={setChosen} /> : null,
  };
}
