/** What is being typed into the query box: the draft, what may come next, and when it becomes the query. */

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { call } from "../../lib/api";
import { formatCell } from "../../lib/format";
import { type Completion, completionAt, inProject, suggest, type Suggestion } from "../../lib/query";
import { project } from "../../state";
import { available, query } from "./settings";

const TYPING_MS = 350;
const MOST_VALUES = 200;
const STATUSES = ["running", "finished", "failed", "killed", "lost", "stopped", "preempted"];

export const draft = signal(query.peek());
export const caret = signal(0);
export const picked = signal(0);
/** Whether suggestions are wanted: while a person types, not when a link fills the box. */
export const open = signal(false);

/** Known values by field, fetched when a person first needs them. */
const valuesOf: Signal<ReadonlyMap<string, readonly string[]>> = signal(new Map([["status", STATUSES]]));
const asked = new Set<string>(["status"]);

export const completion: ReadonlySignal<Completion> = computed(() => completionAt(draft.value, caret.value));
export const options: ReadonlySignal<readonly Suggestion[]> = computed(() =>
  open.value ? suggest(completion.value, available.value, valuesOf.value.get(completion.value.field) ?? []) : [],
);

let timer: ReturnType<typeof setTimeout> | undefined;

// Another link, the back button or a cleared filter changes the query behind the box.
effect(() => {
  const now = query.value;
  if (draft.peek().trim() !== now) draft.value = now;
});

effect(() => {
  if (open.value && completion.value.expected === "value") void fetchValues(completion.value.field);
});

async function fetchValues(field: string): Promise<void> {
  const column = available.peek().find((one) => one.key === field);
  if (asked.has(field) || !column || column.type === "time" || column.type === "duration") return;
  if (column.distinct > MOST_VALUES) return;
  asked.add(field);
  const request = { query: inProject(project.peek(), "").query, group_by: field, limit: 1 };
  const page = await call("POST /api/runs", request).catch(() => null);
  const found = page?.groups?.filter((group) => group.value !== null).map((group) => formatCell(group.value));
  if (found) valuesOf.value = new Map([...valuesOf.peek(), [field, [...new Set(found)].slice(0, MOST_VALUES)]]);
}

/** The draft becomes the query at once. */
export function apply(): void {
  clearTimeout(timer);
  query.value = draft.peek().trim();
}

/** A letter was typed; after a short rest the draft becomes the query. */
export function type(text: string, at: number): void {
  batch(() => {
    draft.value = text;
    caret.value = at;
    picked.value = 0;
    open.value = true;
  });
  clearTimeout(timer);
  timer = setTimeout(apply, TYPING_MS);
}

export function clear(): void {
  type("", 0);
  apply();
  open.value = false;
}

/** Puts a suggestion in place of the half-typed word; gives the place of the caret after it. */
export function take(option: Suggestion): number {
  const { from, to } = completion.peek();
  const before = draft.peek().slice(0, from);
  const after = draft.peek().slice(to).replace(/^ /, "");
  const at = before.length + option.insert.length;
  type(before + option.insert + after, at);
  return at;
}

/** Enter takes a suggestion only if it was walked to or finishes a half-typed word; otherwise it runs the query. */
export function takenByEnter(): Suggestion | null {
  const option = options.peek()[picked.peek()];
  if (!option) return null;
  if (picked.peek() > 0) return option;
  const { typed, expected } = completion.peek();
  const naming = expected === "field" || expected === "value";
  const unfinished =
    typed !== "" && typed !== option.label && option.label.toLowerCase().startsWith(typed.toLowerCase());
  return naming && unfinished ? option : null;
}
