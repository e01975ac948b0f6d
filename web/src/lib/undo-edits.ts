/** What takes an edit of runs back: the tags, notes and name that each of them had. */

import type { EditRequest } from "./schema";

export interface Before {
  id: string;
  name: string;
  notes: string;
  tags: readonly string[];
}

/** Requests that restore `before`, as few as possible; runs that are not known are left out. */
export function inverse(change: EditRequest, before: readonly Before[]): EditRequest[] {
  const undone: EditRequest[] = [];
  const group = (tag: string, had: boolean) =>
    before.filter((run) => run.tags.includes(tag) === had).map((run) => run.id);
  for (const tag of change.add_tags ?? []) {
    const runs = group(tag, false);
    if (runs.length > 0) undone.push({ runs, remove_tags: [tag] });
  }
  for (const tag of change.remove_tags ?? []) {
    const runs = group(tag, true);
    if (runs.length > 0) undone.push({ runs, add_tags: [tag] });
  }
  for (const run of before) {
    const was: EditRequest = { runs: [run.id] };
    if (change.notes != null && change.notes !== run.notes) was.notes = run.notes;
    if (change.name != null && change.name !== run.name && run.name !== "") was.name = run.name;
    if (was.notes !== undefined || was.name !== undefined) undone.push(was);
  }
  return undone;
}

/** The edit in a few words, for the message and the menu. */
export function wordsOf(change: EditRequest): string {
  const runs = change.runs.length === 1 ? "" : ` of ${change.runs.length} runs`;
  const added = change.add_tags?.[0];
  const removed = change.remove_tags?.[0];
  if (added !== undefined) return `tag “${added}”${runs}`;
  if (removed !== undefined) return `removed tag “${removed}”${runs}`;
  return change.notes != null ? `notes${runs}` : `name${runs}`;
}
