/**
 * Regular expressions that always end: RE2 reads the text once, so no pattern can hang the page. The server uses the
 * same language (`views/safe_pattern.py`). The engine is fetched when the first pattern is typed.
 */

import { computed, signal } from "@preact/signals";
import type * as Engine from "re2js";

export class PatternError extends Error {}

type Compiled = ReturnType<typeof Engine.RE2JS.compile>;

const engine = signal<typeof Engine | null>(null);
/** Part of what anything memoized with a pattern depends on. */
export const patternsReady = computed(() => engine.value !== null);
let loading: Promise<void> | null = null;

/** Fetches the engine; what was computed with a pattern before it came is computed again. */
export function loadPatterns(): Promise<void> {
  loading ??= import("re2js").then((loaded) => {
    engine.value = loaded;
  });
  return loading;
}

function compiled(pattern: string): Compiled | null {
  if (!engine.value) {
    void loadPatterns();
    return null;
  }
  const { RE2JS, RE2JSSyntaxException } = engine.value;
  const fold = pattern === pattern.toLowerCase();
  try {
    return RE2JS.compile(pattern, RE2JS.DOTALL | (fold ? RE2JS.CASE_INSENSITIVE : 0));
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new PatternError(inWords(pattern, error));
    throw error;
  }
}

function inWords(pattern: string, fault: Engine.RE2JSSyntaxException): string {
  if (/\(\?<?[=!]/.test(pattern)) return "look-around is not supported; to exclude, start the search with “!”";
  // The engine puts our flags before a pattern that it names whole.
  const part = fault.getPattern()?.replace(/^\(\?[is]+\)/, "");
  return part ? `${fault.getDescription()}: ${part}` : fault.getDescription();
}

/**
 * Compiles a pattern; throws a `PatternError` in words when it is not one. Case is ignored unless it has capitals.
 * Until the engine is there, everything fits.
 */
export function compilePattern(pattern: string): (text: string) => boolean {
  const expression = compiled(pattern);
  return (text) => expression?.test(text) ?? true;
}

/** Letters that are looked at to mark the places of a pattern in one text, and places that are marked. */
const MARKED_LETTERS = 1000;
const MARKED_PLACES = 200;

/** Where a pattern fits, from start to end; not beyond what marking is worth. */
export function findPattern(pattern: string): (text: string) => [number, number][] {
  const expression = compiled(pattern);
  return (text) => {
    const found: [number, number][] = [];
    const places = expression?.matcher(text.slice(0, MARKED_LETTERS));
    while (found.length < MARKED_PLACES && places?.find())
      if (places.end() > places.start()) found.push([places.start(), places.end()]);
    return found;
  };
}
