/** Finding by a few letters: `tl` finds `train/loss`. What begins a word counts more than what stands inside one. */

export interface Match {
  score: number;
  /** Positions of the letters that were found. */
  at: readonly number[];
}

const WORD_START = /[\s/_.:·-]/;

/** How well `text` has the letters of `wanted` in their order; null if it has not. All its words must be there. */
export function fuzzy(wanted: string, text: string): Match | null {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { score: 0, at: [] };
  const low = text.toLowerCase();
  const at: number[] = [];
  let score = 0;
  for (const word of words) {
    const found = whole(word, low) ?? scattered(word, low, text);
    if (!found) return null;
    score += found.score;
    at.push(...found.at);
  }
  // Of two that fit as well, the shorter one is more likely meant.
  return { score: score / words.length - Math.min(20, text.length / 20), at: at.sort((a, b) => a - b) };
}

function whole(word: string, low: string): Match | null {
  let best: Match | null = null;
  for (let from = low.indexOf(word); from >= 0; from = low.indexOf(word, from + 1)) {
    const starts = from === 0 ? 40 : WORD_START.test(low[from - 1] ?? "") ? 25 : 0;
    const score = 60 + starts + (low.length === word.length ? 30 : 0);
    if (!best || score > best.score) best = { score, at: Array.from(word, (_, index) => from + index) };
  }
  return best;
}

/** The first letters of words, each with as many that follow: `trlo` is `train/loss`. */
function scattered(word: string, low: string, text: string): Match | null {
  if (word.length < 2) return null;
  const at: number[] = [];
  for (const letter of word) {
    const last = at.at(-1);
    const found =
      last !== undefined && low[last + 1] === letter ? last + 1 : wordStart(letter, low, text, (last ?? -1) + 1);
    if (found < 0) return null;
    at.push(found);
  }
  const skipped = (at.at(-1) ?? 0) - (at[0] ?? 0) + 1 - at.length;
  return { score: Math.max(5, 45 - skipped), at };
}

function wordStart(letter: string, low: string, text: string, from: number): number {
  for (let at = low.indexOf(letter, from); at >= 0; at = low.indexOf(letter, at + 1))
    if (at === 0 || WORD_START.test(text[at - 1] ?? "") || isHump(text, at)) return at;
  return -1;
}

function isHump(text: string, at: number): boolean {
  const letter = text[at] ?? "";
  return letter !== letter.toLowerCase() && (text[at - 1] ?? "") === (text[at - 1] ?? "").toLowerCase();
}

/** The text cut into parts that were found and parts that were not. */
export function marked(text: string, at: readonly number[]): { text: string; on: boolean }[] {
  const hit = new Set(at);
  const parts: { text: string; on: boolean }[] = [];
  for (let index = 0; index < text.length; index++) {
    const on = hit.has(index);
    const last = parts.at(-1);
    if (last && last.on === on) last.text += text[index];
    else parts.push({ text: text[index] as string, on });
  }
  return parts;
}

/** The items that fit, the best first; of equals those used last, then as they were given. */
export function ranked<T>(
  wanted: string,
  items: readonly T[],
  textOf: (item: T) => string,
  recent: (item: T) => number,
): { item: T; match: Match }[] {
  const found: { item: T; match: Match; bonus: number }[] = [];
  for (const item of items) {
    const match = fuzzy(wanted, textOf(item));
    if (match) found.push({ item, match, bonus: recent(item) });
  }
  return found.sort((a, b) => b.match.score + b.bonus - (a.match.score + a.bonus));
}
