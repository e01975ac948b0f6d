import { resolve } from "node:path";

interface Known {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null;
}

const ENTRY = resolve(import.meta.dirname, "src/main.tsx");

/**
 * Everything that the first page needs goes into one file. By themselves, parts that are also used by pages fetched later
 * would become files of their own, a dozen of them, and each is a request before anything can be shown.
 */
export function withTheFirstPage() {
  let needed: Set<string> | null = null;
  return {
    debugName: "the first page",
    name: (id: string, known: Known): string | null => {
      needed ??= reachable(known);
      return needed.has(id) ? "app" : null;
    },
  };
}

function reachable(known: Known): Set<string> {
  const found = new Set([ENTRY]);
  for (const id of found) for (const next of known.getModuleInfo(id)?.importedIds ?? []) found.add(next);
  return found;
}
