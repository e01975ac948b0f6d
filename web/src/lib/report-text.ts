/** Changes to a report's text: panels written as fenced blocks, put in, changed, moved and taken out by their lines. */

export type Options = Readonly<Record<string, unknown>>;

/** Lines of the text, counted from 0; `end` is the first line after it. */
export interface Span {
  line: number;
  end: number;
}

export const FENCE = "```";

/** One option as one line: JSON where plain text would be read as something else, or could not stand on a line. */
function optionLine(name: string, value: unknown): string {
  if (typeof value !== "string") return `${name}: ${JSON.stringify(value)}`;
  return `${name}: ${readsAsItself(value) ? value : JSON.stringify(value)}`;
}

function readsAsItself(value: string): boolean {
  if (
    value === "" ||
    value.trim() !== value ||
    /[\u0000-\u001f\u007f\u0085\u2028\u2029]/.test(value) ||
    value.includes(FENCE)
  )
    return false;
  try {
    JSON.parse(value);
    return false;
  } catch {
    return true;
  }
}

/** A panel as it stands in the text. Options without a value are left out. */
export function panelText(kind: string, options: Options): string {
  const lines = Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => optionLine(name, value));
  return [`${FENCE}stepscope ${kind}`, ...lines, FENCE].join("\n");
}

const linesOf = (text: string): string[] => text.split("\n");

/** The text with the lines of a span replaced; no replacement takes the empty line after it away too. */
export function replaceSpan(text: string, span: Span, next: string): string {
  const lines = linesOf(text);
  const drop = next === "" && lines[span.end]?.trim() === "" ? 1 : 0;
  lines.splice(span.line, span.end - span.line + drop, ...(next === "" ? [] : linesOf(next)));
  return lines.join("\n");
}

/** The text with a block put before a line, with an empty line around it. */
export function insertBlock(text: string, line: number, block: string): string {
  const lines = linesOf(text);
  const at = Math.max(0, Math.min(line, lines.length));
  const before = at > 0 && lines[at - 1]?.trim() !== "" ? [""] : [];
  const after = at < lines.length && lines[at]?.trim() !== "" ? [""] : [];
  lines.splice(at, 0, ...before, ...linesOf(block), ...after);
  return lines.join("\n");
}

/** The text with a block moved before a line (a line of the text as it was). */
export function moveSpan(text: string, span: Span, line: number): string {
  if (line >= span.line && line <= span.end) return text;
  const lines = linesOf(text);
  const block = lines.slice(span.line, span.end).join("\n");
  const without = replaceSpan(text, span, "");
  const gone = lines.length - linesOf(without).length;
  return insertBlock(without, line > span.line ? line - gone : line, block);
}

/** A block added at the end, for "Add to report". */
export function appendBlock(text: string, block: string): string {
  const trimmed = text.replace(/\s+$/, "");
  return `${trimmed}${trimmed ? "\n\n" : ""}${block}\n`;
}

/** The line an offset is in. */
export function lineAt(text: string, offset: number): number {
  let line = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** Where a line begins. */
export function offsetOf(text: string, line: number): number {
  let at = 0;
  for (let n = 0; n < line; n++) {
    const next = text.indexOf("\n", at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return at;
}

/** The smallest change that makes `next` of `old`: one stretch replaced. For an editor that must keep its undo. */
export function changeBetween(old: string, next: string): { from: number; to: number; text: string } {
  const most = Math.min(old.length, next.length);
  let from = 0;
  while (from < most && old[from] === next[from]) from++;
  let tail = 0;
  while (tail < most - from && old[old.length - 1 - tail] === next[next.length - 1 - tail]) tail++;
  return { from, to: old.length - tail, text: next.slice(from, next.length - tail) };
}

/** `/cha` on a line of its own, under the caret: what the menu of panels is asked for; null when it is not. */
export function slashAt(text: string, caret: number): { from: number; word: string } | null {
  const from = text.lastIndexOf("\n", caret - 1) + 1;
  const found = /^\/([\w ]{0,30})$/.exec(text.slice(from, caret));
  const rest = text.slice(caret, text.indexOf("\n", caret) < 0 ? undefined : text.indexOf("\n", caret));
  return found && rest.trim() === "" ? { from, word: (found[1] ?? "").toLowerCase() } : null;
}
