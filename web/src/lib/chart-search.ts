/** The search box above the panels: plain words, or a regular expression. A bad pattern is shown, never thrown. */

import { compilePattern, PatternError } from "./pattern";

export interface Search {
  matches(name: string): boolean;
  error: string | null;
}

const everything: Search = { matches: () => true, error: null };

/** Every word must occur; a word that starts with `!` must not. */
function words(text: string): Search {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = parts.filter((p) => !p.startsWith("!"));
  const unwanted = parts.filter((p) => p.startsWith("!") && p.length > 1).map((p) => p.slice(1));
  return {
    error: null,
    matches(name) {
      const low = name.toLowerCase();
      return wanted.every((p) => low.includes(p)) && !unwanted.some((p) => low.includes(p));
    },
  };
}

function pattern(text: string): Search {
  const not = text.startsWith("!");
  try {
    const test = compilePattern(not ? text.slice(1) : text);
    return { error: null, matches: (name) => test(name) !== not };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return { ...everything, error: error.message };
  }
}

export function searchFor(text: string, regex: boolean): Search {
  const trimmed = text.trim();
  if (!trimmed) return everything;
  return regex ? pattern(trimmed) : words(trimmed);
}
