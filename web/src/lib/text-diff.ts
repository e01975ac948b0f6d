/** What changed between two texts: lines that came, went or stayed, and the words inside changed lines. */

export type Piece = { kind: "same" | "gone" | "new"; text: string };
export type DiffLine = { kind: "same" | "gone" | "new"; pieces: Piece[] };

const MOST_CELLS = 4_000_000;

/**
 * The longest common run of two lists, as pairs of positions. Lists too long for the table are taken as all different.
 */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const rows = a.length - head - tail;
  const columns = b.length - head - tail;
  const pairs: [number, number][] = Array.from({ length: head }, (_, i) => [i, i]);
  if (rows > 0 && columns > 0 && rows * columns <= MOST_CELLS) {
    const table = new Uint16Array((rows + 1) * (columns + 1));
    const at = (i: number, j: number) => i * (columns + 1) + j;
    for (let i = rows - 1; i >= 0; i--) {
      for (let j = columns - 1; j >= 0; j--) {
        table[at(i, j)] =
          a[head + i] === b[head + j]
            ? (table[at(i + 1, j + 1)] as number) + 1
            : Math.max(table[at(i + 1, j)] as number, table[at(i, j + 1)] as number);
      }
    }
    for (let i = 0, j = 0; i < rows && j < columns; ) {
      if (a[head + i] === b[head + j]) pairs.push([head + i++, head + j++]);
      else if ((table[at(i + 1, j)] as number) >= (table[at(i, j + 1)] as number)) i++;
      else j++;
    }
  }
  for (let i = tail; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

function wordPieces(before: string, after: string): { gone: Piece[]; new: Piece[] } {
  const split = (text: string) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  const a = split(before);
  const b = split(after);
  const pairs = common(a, b);
  const sides = (words: readonly string[], which: 0 | 1, kind: "gone" | "new"): Piece[] => {
    const same = new Set(pairs.map((pair) => pair[which]));
    const pieces: Piece[] = [];
    words.forEach((word, i) => {
      const own = same.has(i) ? "same" : kind;
      const last = pieces[pieces.length - 1];
      if (last?.kind === own) last.text += word;
      else pieces.push({ kind: own, text: word });
    });
    return pieces;
  };
  return { gone: sides(a, 0, "gone"), new: sides(b, 1, "new") };
}

/** Line by line; a line that was changed shows which of its words. */
export function diffTexts(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  const flush = (toI: number, toJ: number) => {
    const gone = a.slice(i, toI);
    const fresh = b.slice(j, toJ);
    const both = Math.min(gone.length, fresh.length);
    const words = gone.slice(0, both).map((line, at) => wordPieces(line, fresh[at] as string));
    gone.forEach((line, at) => out.push({ kind: "gone", pieces: words[at]?.gone ?? [{ kind: "gone", text: line }] }));
    fresh.forEach((line, at) => out.push({ kind: "new", pieces: words[at]?.new ?? [{ kind: "new", text: line }] }));
  };
  for (const [x, y] of common(a, b)) {
    flush(x, y);
    out.push({ kind: "same", pieces: [{ kind: "same", text: a[x] as string }] });
    i = x + 1;
    j = y + 1;
  }
  flush(a.length, b.length);
  return out;
}
