/** Two versions of a text, line by line: what was taken out, what was put in, and a little of what stayed around it. */

export interface DiffLine {
  kind: "same" | "out" | "in" | "gap";
  text: string;
  /** Number of the line in the newer text (in the older one, for what was taken out); of a gap: how many lines. */
  number: number;
}

/** Beyond this many changed lines the middle is shown as replaced whole: quick, and true. */
const MOST_CELLS = 4_000_000;

/** Lines that both have, in order, as pairs of indices: the longest such row, by dynamic programming. */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length * b.length > MOST_CELLS) return [];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const here =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] as number) + 1
          : Math.max(lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number);
      lengths[i * width + j] = here;
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if ((lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number)) i++;
    else j++;
  }
  return pairs;
}

export function diffLines(older: string, newer: string): DiffLine[] {
  const a = older.split("\n");
  const b = newer.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out: DiffLine[] = [];
  const same = (j: number) => out.push({ kind: "same", text: b[j] as string, number: j + 1 });
  for (let j = 0; j < head; j++) same(j);
  let [i, j] = [head, head];
  const upTo = (toI: number, toJ: number) => {
    for (; i < toI; i++) out.push({ kind: "out", text: a[i] as string, number: i + 1 });
    for (; j < toJ; j++) out.push({ kind: "in", text: b[j] as string, number: j + 1 });
  };
  for (const [x, y] of common(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    upTo(head + x, head + y);
    same(j);
    i++, j++;
  }
  upTo(a.length - tail, b.length - tail);
  for (; j < b.length; j++) same(j);
  return out;
}

/** The same with long stretches that stayed left out. */
export function shortDiff(lines: readonly DiffLine[], around = 2): DiffLine[] {
  const near = new Uint8Array(lines.length);
  for (const [at, line] of lines.entries()) {
    if (line.kind === "same") continue;
    near.fill(1, Math.max(0, at - around), Math.min(lines.length, at + around + 1));
  }
  const out: DiffLine[] = [];
  for (let at = 0; at < lines.length; ) {
    if (near[at]) out.push(lines[at++] as DiffLine);
    else {
      const from = at;
      while (at < lines.length && !near[at]) at++;
      out.push({ kind: "gap", text: "", number: at - from });
    }
  }
  return out;
}

/** How many lines were put in and taken out. */
export function diffCount(lines: readonly DiffLine[]): { added: number; removed: number } {
  return {
    added: lines.filter((line) => line.kind === "in").length,
    removed: lines.filter((line) => line.kind === "out").length,
  };
}
