/** A small Markdown reader: text to a tree of plain nodes. No HTML, no images, links only to http(s). */

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "break" }
  | { kind: "strong" | "em" | "strike"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] }
  | { kind: "image"; alt: string; href: string | null };

export type Align = "left" | "right" | "center" | null;

export type Block =
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; children: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; align: Align[]; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

const MOST_TEXT = 200_000;
const DEEPEST = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)\s*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(\s+|$)/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** An address that may be opened: absolute http or https. Everything else stays text. */
export function safeLink(href: string): string | null {
  const trimmed = href.trim();
  if (!/^https?:\/\/[^\s<>"'`\\\u0000-\u0020]+$/i.test(trimmed)) return null;
  return trimmed;
}

export function parseMarkdown(text: string): Block[] {
  return blocks(text.slice(0, MOST_TEXT).replace(/\r\n?/g, "\n").split("\n"), 0);
}

function blocks(lines: readonly string[], depth: number): Block[] {
  const out: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] as string;
    if (!line.trim()) {
      at++;
      continue;
    }
    const [block, next] = block1(lines, at, depth);
    out.push(block);
    at = Math.max(next, at + 1);
  }
  return out;
}

function block1(lines: readonly string[], at: number, depth: number): [Block, number] {
  const line = lines[at] as string;
  const fence = FENCE.exec(line);
  if (fence) return fenced(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading)
    return [{ kind: "heading", level: (heading[1] as string).length, children: inline(heading[2] as string) }, at + 1];
  if (RULE.test(line)) return [{ kind: "rule" }, at + 1];
  if (depth < DEEPEST && QUOTE.test(line)) return quote(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, depth);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return table(lines, at);
  let end = at + 1;
  while (end < lines.length && !startsBlock(lines[end] as string)) end++;
  return [{ kind: "paragraph", children: inline(lines.slice(at, end).join("\n")) }, end];
}

const startsBlock = (line: string): boolean =>
  !line.trim() || FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || RULE.test(line);

function fenced(lines: readonly string[], at: number, fence: RegExpExecArray): [Block, number] {
  const mark = (fence[1] as string)[0] as string;
  let end = at + 1;
  while (end < lines.length && !(lines[end] as string).trim().startsWith(mark.repeat(3))) end++;
  return [{ kind: "code", language: fence[2] ?? "", text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

function quote(lines: readonly string[], at: number, depth: number): [Block, number] {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] as string)) end++;
  const inner = lines.slice(at, end).map((l) => l.replace(QUOTE, ""));
  return [{ kind: "quote", children: blocks(inner, depth + 1) }, end];
}

function list(lines: readonly string[], at: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[at] as string) as RegExpExecArray;
  const ordered = first[3] !== undefined;
  const items: string[][] = [];
  let end = at;
  for (; end < lines.length; end++) {
    const line = lines[end] as string;
    const item = ITEM.exec(line);
    const same = item !== null && (item[1] as string).length < (first[1] as string).length + 2;
    if (item && same && (item[3] !== undefined) === ordered) items.push([line.slice(item[0].length)]);
    else if (/^\s{2,}/.test(line) || (!line.trim() && /^\s{2,}\S/.test(lines[end + 1] ?? ""))) {
      (items[items.length - 1] as string[]).push(line.replace(/^\s{2,4}/, ""));
    } else break;
  }
  return [{ kind: "list", ordered, start: Number(first[3] ?? 1), items: items.map((l) => blocks(l, depth + 1)) }, end];
}

/** The cells of a line; a bar after a backslash is text. */
function cutCells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(^|[^\\])\|$/, "$1");
  const cells: string[] = [];
  let cell = "";
  for (let at = 0; at < inner.length; at++) {
    if (inner[at] === "|") cells.push(cell), (cell = "");
    else cell += inner[at] === "\\" && inner[at + 1] === "|" ? inner[++at] : inner[at];
  }
  cells.push(cell);
  return cells.map((one) => one.trim());
}

const cells = (line: string): Inline[][] => cutCells(line).map((cell) => inline(cell));

function alignOf(rule: string): Align {
  const [left, right] = [rule.startsWith(":"), rule.endsWith(":")];
  return left && right ? "center" : right ? "right" : left ? "left" : null;
}

function table(lines: readonly string[], at: number): [Block, number] {
  let end = at + 2;
  while (end < lines.length && (lines[end] as string).includes("|")) end++;
  const align = cutCells(lines[at + 1] as string).map(alignOf);
  return [{ kind: "table", align, head: cells(lines[at] as string), rows: lines.slice(at + 2, end).map(cells) }, end];
}

/** How far the end of a span is looked for: every search is bounded, so no text takes long. */
const REACH = 400;
const BARE = /^https?:\/\/[^\s<>"'`\\)\]]{1,2000}/;
const LINK = /^(!?)\[([^\]\n]{0,300})\]\(((?:[^()\s]|\([^()\s]{0,200}\)){1,2000})(?:\s+"[^"\n]{0,200}")?\)/;

/** The text between `mark` at `at` and the same mark again, or null when it does not end nearby. */
function between(text: string, at: number, mark: string): string | null {
  const from = at + mark.length;
  const window = text.slice(from, from + REACH);
  const end = window.indexOf(mark);
  if (end < 1 || /^\s|\s$/.test(window.slice(0, end)) || window.slice(0, end).includes("\n")) return null;
  return window.slice(0, end);
}

const MARKS = [
  ["**", "strong"],
  ["~~", "strike"],
  ["*", "em"],
  ["_", "em"],
] as const;

export function inline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let held = "";
  let from = 0;
  const flush = (): void => {
    if (held) out.push({ kind: "text", text: held });
    held = "";
  };
  const special = /[`*_~![]|\\[\\`*_~![\]#|<>-]| {2,}\n|\\\n|https?:\/\//g;
  for (let m = special.exec(text); m; m = special.exec(text)) {
    const [mark] = m;
    const found = mark.endsWith("\n") ? null : mark.startsWith("\\") ? mark.slice(1) : spanAt(text, m.index, depth);
    if (found === null && !mark.endsWith("\n")) continue;
    held += text.slice(from, m.index);
    if (typeof found === "string") held += found;
    else {
      flush();
      out.push(found?.node ?? { kind: "break" });
    }
    from = special.lastIndex = m.index + (found !== null && typeof found === "object" ? found.length : mark.length);
  }
  held += text.slice(from);
  flush();
  return out;
}

function spanAt(text: string, at: number, depth: number): { node: Inline; length: number } | null {
  const inner = (t: string): Inline[] => (depth < DEEPEST ? inline(t, depth + 1) : [{ kind: "text", text: t }]);
  const letter = text[at] as string;
  if (letter === "`") {
    const code = between(text, at, "`");
    return code === null ? null : { node: { kind: "code", text: code }, length: code.length + 2 };
  }
  if (letter === "[" || letter === "!") return linkAt(text, at, inner);
  if (letter === "h") {
    const href = safeLink(BARE.exec(text.slice(at, at + 2100))?.[0] ?? "");
    return href
      ? { node: { kind: "link", href, children: [{ kind: "text", text: href }] }, length: href.length }
      : null;
  }
  for (const [mark, kind] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const body = between(text, at, mark);
    const inWord =
      mark === "_" && (/\w/.test(text[at - 1] ?? "") || /\w/.test(text[at + (body?.length ?? 0) + 2] ?? ""));
    if (body !== null && !inWord)
      return { node: { kind, children: inner(body) }, length: body.length + 2 * mark.length };
  }
  return null;
}

function linkAt(text: string, at: number, inner: (text: string) => Inline[]): { node: Inline; length: number } | null {
  const found = LINK.exec(text.slice(at, at + 2600));
  if (!found) return null;
  const [whole, image, label = "", target = ""] = found;
  const href = safeLink(target);
  if (image) return { node: { kind: "image", alt: label, href }, length: whole.length };
  // A link that may not be followed stays the text it is, brackets and all.
  if (!href || !label) return { node: { kind: "text", text: whole }, length: whole.length };
  return { node: { kind: "link", href, children: inner(label) }, length: whole.length };
}
