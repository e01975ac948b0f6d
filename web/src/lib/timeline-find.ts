/** Which names a search means: a part of the name, or with slashes around it a regular expression. */

import { compilePattern } from "./pattern";

export interface Search {
  /** Matching names by their numbers. */
  names: number[];
  /** Why the pattern cannot be read. */
  error: string | null;
}

export const isPattern = (text: string): boolean => /^\/./.test(text.trim());

/** `gemm`, `add relu` (both parts occur), `/^aten::(add|mul)/`. Letters' case does not count. */
export function findNames(names: readonly string[], text: string): Search {
  const query = text.trim();
  if (query === "") return { names: [], error: null };
  if (isPattern(query)) return byPattern(names, query.replace(/^\/(.+?)\/?$/, "$1"));
  const parts = query.toLowerCase().split(/\s+/);
  const found: number[] = [];
  names.forEach((name, at) => {
    const lower = name.toLowerCase();
    if (parts.every((part) => lower.includes(part))) found.push(at);
  });
  return { names: found, error: null };
}

function byPattern(names: readonly string[], pattern: string): Search {
  try {
    const test = compilePattern(pattern);
    const found: number[] = [];
    names.forEach((name, at) => test(name) && found.push(at));
    return { names: found, error: null };
  } catch (fault) {
    return { names: [], error: fault instanceof Error ? fault.message : String(fault) };
  }
}
