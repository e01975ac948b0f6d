/** A small Markdown reader: text to a tree of plain nodes. No HTML, no images, links only to http(s). */

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "strike"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] }
  | { kind: "image"; alt: string; href: string | null };

export type Block =
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; children: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
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
  if (heading) return [{ kind: "heading", level: (heading[1] as string).length, children: inline(heading[2] as string) }, at + 1];
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
    if (item && (item[3] !== undefined) === ordered) items.push([line.slice(item[0].length)]);
    else if (/^\s{2,}/.test(line) || (!line.trim() && /^\s{2,}\S/.test(lines[end + 1] ?? ""))) {
      (items[items.length - 1] as string[]).push(line.replace(/^\s{2,4}/, ""));
    } else break;
  }
  return [{ kind: "list", ordered, start: Number(first[3] ?? 1), items: items.map((l) => blocks(l, depth + 1)) }, end];
}

const cells = (line: string): Inline[][] => line.trim().replace(/^\||\|$/g, "").split("|").map((c) => inline(c.trim()));

function table(lines: readonly string[], at: number): [Block, number] {
  let end = at + 2;
  while (end < lines.length && (lines[end] as string).includes("|")) end++;
  return [{ kind: "table", head: cells(lines[at] as string), rows: lines.slice(at + 2, end).map(cells) }, end];
}

const SPAN = /`([^`\n]{1,2000})`|!\[([^\]\n]{0,500})\]\(([^)\s]{0,2000})[^)\n]{0,200}\)|\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})[^)\n]{0,200}\)|\*\*([^\n]{1,2000}?)\*\*|~~([^~\n]{1,2000})~~|\*([^*\s][^*\n]{0,1000})\*|(?<![\w])_([^_\s][^_\n]{0,1000})_(?!\w)|(https?:\/\/[^\s<>"'`\\)\]]{1,2000})/g;

export function inline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let from = 0;
  const inner = (t: string): Inline[] => (depth < DEEPEST ? inline(t, depth + 1) : [{ kind: "text", text: t }]);
  for (const m of text.matchAll(SPAN)) {
    if (m.index > from) out.push({ kind: "text", text: text.slice(from, m.index) });
    out.push(span(m, inner));
    from = m.index + m[0].length;
  }
  if (from < text.length) out.push({ kind: "text", text: text.slice(from) });
  return out;
}

function span(m: RegExpMatchArray, inner: (text: string) => Inline[]): Inline {
  const [whole, code, alt, source, label, href, strong, strike, star, line, bare] = m;
  if (code !== undefined) return { kind: "code", text: code };
  if (alt !== undefined) return { kind: "image", alt, href: safeLink(source ?? "") };
  if (label !== undefined) {
    const safe = safeLink(href ?? "");
    return safe ? { kind: "link", href: safe, children: inner(label) } : { kind: "text", text: whole };
  }
  if (strong !== undefined) return { kind: "strong", children: inner(strong) };
  if (strike !== undefined) return { kind: "strike", children: inner(strike) };
  if (star !== undefined || line !== undefined) return { kind: "em", children: inner(star ?? line ?? "") };
  const safe = safeLink(bare ?? "");
  return safe ? { kind: "link", href: safe, children: [{ kind: "text", text: safe }] } : { kind: "text", text: whole };
}
