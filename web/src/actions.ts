/** What can be done from the command palette. A page adds its own actions while it is shown. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Action {
  /** Names it in the list of what was used last; never shown. */
  id: string;
  title: string;
  /** Other words it can be found by. */
  words?: string;
  /** The shortcut that does the same: `g r`. */
  keys?: string;
  run(): void;
}

const held = signal<readonly (readonly Action[])[]>([]);

/** Every action that can be done now, those of the page first. */
export function allActions(): readonly Action[] {
  const seen = new Set<string>();
  return [...held.value]
    .reverse()
    .flat()
    .filter((action) => !seen.has(action.id) && seen.add(action.id));
}

/** Offers actions while a component is shown. `when` says that they have changed. */
export function useActions(actions: readonly Action[], when: readonly unknown[] = []): void {
  useEffect(() => {
    held.value = [...held.peek(), actions];
    return () => {
      held.value = held.peek().filter((other) => other !== actions);
    };
  }, [...when]);
}
