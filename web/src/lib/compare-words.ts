/** Which words of a long value differ from another: the longest common run of words stays plain. */

export interface Piece {
  text: string;
  same: boolean;
}

/** Beyond this the comparison would take longer than anybody reads. */
const MOST_WORDS = 600;

/** Words, spaces and signs, so that a path or a list differs in its parts. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_.]+|\s+|[^\p{L}\p{N}_.\s]/gu) ?? [];
}

/** `text` in pieces that `other` has too, or not. */
export function wordDiff(text: string, other: string): Piece[] {
  const a = wordsOf(text);
  const b = wordsOf(other);
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return [{ text, same: text === other }];
  const kept = commonWords(a, b);
  const pieces: Piece[] = [];
  a.forEach((word, at) => {
    const same = kept.has(at);
    const last = pieces[pieces.length - 1];
    if (last && last.same === same) last.text += word;
    else pieces.push({ text: word, same });
  });
  return pieces;
}

/** The places in `a` of a longest common subsequence with `b`. */
function commonWords(a: readonly string[], b: readonly string[]): Set<number> {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const skip = Math.max(longest[(i + 1) * width + j] as number, longest[i * width + j + 1] as number);
      longest[i * width + j] = a[i] === b[j] ? (longest[(i + 1) * width + j + 1] as number) + 1 : skip;
    }
  }
  const kept = new Set<number>();
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) kept.add(i), i++, j++;
    else if ((longest[(i + 1) * width + j] as number) >= (longest[i * width + j + 1] as number)) i++;
    else j++;
  }
  return kept;
}

/** A long stretch of lines that are the same on both sides is folded to its ends. */
export type Stretch<T> = { kind: "lines"; lines: readonly T[] } | { kind: "folded"; lines: readonly T[] };

const AROUND = 3;

export function foldSame<T extends { kind: string }>(lines: readonly T[]): Stretch<T>[] {
  const near = new Set<number>();
  lines.forEach((line, at) => {
    if (line.kind !== "same") for (let i = at - AROUND; i <= at + AROUND; i++) near.add(i);
  });
  const out: Stretch<T>[] = [];
  lines.forEach((line, at) => {
    const kind = near.has(at) ? "lines" : "folded";
    const last = out[out.length - 1];
    if (last?.kind === kind) (last.lines as T[]).push(line);
    else out.push({ kind, lines: [line] });
  });
  return out;
}
