/** Entries of the command palette: what they are called, where they lead, in which order they stand. */

import { type Match, ranked } from "./fuzzy";
import type { Hit, SearchResult } from "./schema";

export type EntryKind = "action" | "page" | "view" | "help" | Hit["kind"];

export interface Entry {
  id: string;
  kind: EntryKind;
  title: string;
  detail: string;
  keys?: string;
  /** Found by these too, besides its title. */
  words?: string;
  pick(): void;
}

export interface Section {
  title: string;
  entries: { entry: Entry; at: readonly number[] }[];
  /** How many there are beyond those listed. */
  more: number;
}

export const TITLES: Readonly<Record<EntryKind, string>> = {
  page: "Pages",
  action: "Actions",
  view: "Saved views",
  run: "Runs",
  metric: "Metrics",
  finding: "Findings",
  report: "Reports",
  artifact: "Artifacts",
  console: "Console",
  project: "Projects",
  help: "Help",
};

const LOCAL: readonly EntryKind[] = ["page", "action", "view", "help"];
const EACH = 6;
const RECENT = 5;

/** The page's own entries that fit, by kind, the kind with the best one first. */
export function localSections(wanted: string, entries: readonly Entry[], recent: readonly string[]): Section[] {
  const place = new Map(recent.map((id, at) => [id, at]));
  if (wanted.trim() === "") return suggestions(entries, recent);
  const bonus = (entry: Entry) => (place.has(entry.id) ? 14 - Math.min(10, place.get(entry.id) as number) : 0);
  const textOf = (entry: Entry) => (entry.words ? `${entry.title} ${entry.words}` : entry.title);
  const found = ranked(wanted, entries, textOf, bonus);
  const sections = LOCAL.map((kind) =>
    section(
      kind,
      found.filter((one) => one.item.kind === kind),
    ),
  );
  const best = (one: Section) => found.findIndex((other) => other.item === one.entries[0]?.entry);
  return sections.filter((one) => one.entries.length > 0).sort((a, b) => best(a) - best(b));
}

function section(kind: EntryKind, found: { item: Entry; match: Match }[]): Section {
  const entries = found.slice(0, EACH).map(({ item, match }) => ({
    entry: item,
    at: match.at.filter((position) => position < item.title.length),
  }));
  return { title: TITLES[kind], entries, more: found.length - entries.length };
}

/** Before the first letter: what was used last, then everything there is to do. */
function suggestions(entries: readonly Entry[], recent: readonly string[]): Section[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const used = recent.flatMap((id) => byId.get(id) ?? []).slice(0, RECENT);
  const plain = (list: readonly Entry[]) => list.map((entry) => ({ entry, at: [] }));
  const rest = LOCAL.map((kind) => ({
    title: TITLES[kind],
    entries: plain(entries.filter((entry) => entry.kind === kind && !used.includes(entry))),
    more: 0,
  }));
  return [{ title: "Used last", entries: plain(used), more: 0 }, ...rest].filter((one) => one.entries.length > 0);
}

/** What the server found, as entries. */
export function foundSections(result: SearchResult, pick: (hit: Hit) => void): Section[] {
  return result.groups.map((group) => ({
    title: TITLES[group.kind],
    more: group.count - group.hits.length,
    entries: group.hits.map((hit, index) => ({
      at: [],
      entry: {
        id: `${hit.kind}:${hit.run}:${hit.key || index}`,
        kind: hit.kind,
        title: hit.title,
        detail: hit.detail,
        pick: () => pick(hit),
      },
    })),
  }));
}

/** Where the words of a search stand in a text. */
export function wordsAt(wanted: string, text: string): number[] {
  const low = text.toLowerCase();
  const at: number[] = [];
  for (const word of wanted.toLowerCase().split(/\s+/).filter(Boolean)) {
    const from = low.indexOf(word);
    if (from >= 0) for (let index = 0; index < word.length; index++) at.push(from + index);
  }
  return at;
}
