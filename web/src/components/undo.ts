/** One stack of what can be taken back, for the whole app: edits of runs, deletions, layouts. Ctrl+Z takes the last. */

import { signal } from "@preact/signals";
import { toast } from "./toast";

export interface Done {
  /** What was done, as it stands after "Undo": `delete 3 runs`, `columns`. */
  words: string;
  undo(): Promise<void> | void;
  /** Does it again; without it the step cannot be repeated. */
  redo?(): Promise<void> | void;
}

const MOST = 100;
const done = signal<readonly Done[]>([]);
const undone = signal<readonly Done[]>([]);

/** Remembers a step; with `said`, tells of it with a button to take it back. */
export function remember(step: Done, said?: string): void {
  done.value = [...done.peek(), step].slice(-MOST);
  undone.value = [];
  if (said) toast(said, "info", undefined, undefined, { label: "Undo", onPick: () => void takeBack(step) });
}

/** A step that came to nothing after all. */
export function forget(step: Done): void {
  done.value = done.peek().filter((other) => other !== step);
}

const unsettled: (() => void)[] = [];

/**
 * `settle` is called before anything is taken back: a change that has not come to rest yet is the last step all the
 * same.
 */
export function settleFirst(settle: () => void): void {
  unsettled.push(settle);
}

/** One after the other: somebody who presses Ctrl+Z twice means two steps, also while the first is on its way. */
let line: Promise<void> = Promise.resolve();

function inTurn(act: () => Promise<void>): Promise<void> {
  line = line.then(act);
  return line;
}

/** Takes back one step, by default the last. */
export function takeBack(wanted?: Done): Promise<void> {
  return inTurn(async () => {
    for (const settle of unsettled) settle();
    const step = wanted ?? done.peek().at(-1);
    if (!step) return toast("There is nothing to undo.");
    if (!done.peek().includes(step)) return;
    forget(step);
    try {
      await step.undo();
      if (step.redo) undone.value = [...undone.peek(), step];
      toast(`Undone: ${step.words}`);
    } catch (fault) {
      done.value = [...done.peek(), step];
      toast(fault instanceof Error ? fault.message : String(fault), "error", "This could not be undone");
    }
  });
}

/** Does the step that was taken back last once more. */
export function again(): Promise<void> {
  return inTurn(async () => {
    const step = undone.peek().at(-1);
    if (!step?.redo) return toast("There is nothing to redo.");
    undone.value = undone.peek().slice(0, -1);
    try {
      await step.redo();
      done.value = [...done.peek(), step];
      toast(`Redone: ${step.words}`);
    } catch (fault) {
      toast(fault instanceof Error ? fault.message : String(fault), "error", "This could not be redone");
    }
  });
}
