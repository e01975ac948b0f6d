/** Which names a search means: a part of the name, or with slashes around it a regular expression. */

import { compilePattern } from "./chart-regex";

export interface Search {
  /** Matching names by their numbers. */
  names: number[];
  /** Why the pattern cannot be read. */
  error: string | null;
}

/** `gemm`, `add relu` (both parts occur), `/^aten::(add|mul)/`. Letters' case does not count. */
export function findNames(names: readonly string[], text: string): Search {
  const query = text.trim();
  if (query === "") return { names: [], error: null };
  const pattern = /^\/(.+?)\/?$/.exec(query);
  if (pattern && query.length > 1) return byPattern(names, pattern[1] as string);
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
