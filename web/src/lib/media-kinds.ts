/** Kinds of media in words, and which of them the page shows how. */

/** Kinds in the order of the filter, with what a person calls them. */
export const KINDS: readonly { kind: string; one: string; many: string }[] = [
  { kind: "image", one: "image", many: "Images" },
  { kind: "video", one: "video", many: "Videos" },
  { kind: "audio", one: "sound", many: "Audio" },
  { kind: "text", one: "text", many: "Text" },
  { kind: "table", one: "table", many: "Tables" },
  { kind: "curve", one: "curves", many: "Curves" },
  { kind: "confusion", one: "confusion matrix", many: "Confusion" },
  { kind: "embedding", one: "embedding", many: "Embeddings" },
  { kind: "figure", one: "figure", many: "Figures" },
  { kind: "html", one: "page", many: "HTML" },
  { kind: "file", one: "file", many: "Files" },
];

export const kindWord = (kind: string): string => KINDS.find((known) => known.kind === kind)?.one ?? kind;
export const kindWords = (kind: string): string => KINDS.find((known) => known.kind === kind)?.many ?? kind;

/** Kinds that one picture holds for all runs, so that a column per run would only repeat it. */
export const TOGETHER: ReadonlySet<string> = new Set(["curve", "confusion", "embedding", "table", "text"]);

/** How many of each kind there are, in the order of the filter; kinds we do not know come last. */
export function kindCounts(keys: readonly { kind: string }[]): { kind: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { kind } of keys) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const known = KINDS.map(({ kind }) => kind).filter((kind) => counts.has(kind));
  const others = [...counts.keys()].filter((kind) => !known.includes(kind)).sort();
  return [...known, ...others].map((kind) => ({ kind, count: counts.get(kind) ?? 0 }));
}
