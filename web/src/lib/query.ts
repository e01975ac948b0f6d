/** The query box: which words are what, and what may come next. The server alone decides what a query means. */

import type { RunColumn } from "./schema";

export type TokenKind = "field" | "value" | "number" | "string" | "operator" | "keyword" | "paren" | "comma";

export interface QueryToken {
  kind: TokenKind;
  start: number;
  end: number;
  text: string;
}

/** What would make sense at a place in the query. */
export type Expected = "field" | "operator" | "value" | "join" | "null" | "list";

interface State {
  expected: Expected;
  inList: boolean;
  /** The field whose value is expected. */
  field: string;
}

const PIECE = /\s+|==|!=|<=|>=|!~|[=<>~(),]|(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[^\s=!<>~(),"']|!(?![=~]))+/gs;
const OPERATOR = /^(==|!=|<=|>=|!~|=|<|>|~)$/;

/** The tokens of a query, in order, without the spaces. Never throws: a query is read while it is typed. */
export function tokens(query: string): QueryToken[] {
  return walk(query).found;
}

function walk(query: string): { found: QueryToken[]; state: State } {
  const found: QueryToken[] = [];
  let state: State = { expected: "field", inList: false, field: "" };
  for (const match of query.matchAll(PIECE)) {
    const text = match[0];
    if (text.trim() === "") continue;
    const [kind, next] = step(state, text);
    found.push({ kind, start: match.index, end: match.index + text.length, text });
    state = next;
  }
  return { found, state };
}

function step(state: State, text: string): [TokenKind, State] {
  const word = text.toLowerCase();
  if (OPERATOR.test(text)) return ["operator", { ...state, expected: "value", inList: false }];
  if (text === ",") return ["comma", { ...state, expected: state.inList ? "value" : "field" }];
  if (text === "(")
    return ["paren", state.expected === "list" ? { ...state, expected: "value", inList: true } : fresh("field")];
  if (text === ")") return ["paren", fresh("join")];
  if (word === "and" || word === "or") return ["keyword", fresh("field")];
  if (word === "not")
    return ["keyword", state.expected === "field" || state.expected === "join" ? fresh("field") : state];
  if (word === "in" && state.field) return ["keyword", { ...state, expected: "list" }];
  if (word === "is" && state.field) return ["keyword", { ...state, expected: "null" }];
  if (state.expected === "null") return ["keyword", fresh("join")];
  if (state.expected === "value") return [valueKind(text), state.inList ? state : fresh("join")];
  return [/^["']/.test(text) ? "string" : "field", { expected: "operator", inList: false, field: text }];
}

function fresh(expected: Expected): State {
  return { expected, inList: false, field: "" };
}

function valueKind(text: string): TokenKind {
  if (/^["']/.test(text)) return "string";
  return /^[-+]?(\d|\.\d)/.test(text) || /^(nan|[-+]?inf|true|false|null)$/i.test(text) ? "number" : "value";
}

export interface Completion {
  /** What is replaced: from here to `to`. */
  from: number;
  to: number;
  expected: Expected;
  /** What was typed of it so far. */
  typed: string;
  /** The field whose values are wanted, when a value is expected. */
  field: string;
}

/** What the caret stands in, and what is expected there. */
export function completionAt(query: string, caret: number): Completion {
  const { found } = walk(query);
  const under = found.find(
    (token) =>
      token.start < caret &&
      caret <= token.end &&
      token.kind !== "operator" &&
      token.kind !== "paren" &&
      token.kind !== "comma",
  );
  const from = under?.start ?? caret;
  const state = walk(query.slice(0, from)).state;
  return {
    from,
    to: under?.end ?? caret,
    expected: state.expected,
    typed: query.slice(from, caret),
    field: state.field,
  };
}

export interface Suggestion {
  insert: string;
  label: string;
  detail: string;
}

const OPERATORS: readonly [string, string][] = [
  ["=", "equal"],
  ["!=", "not equal"],
  ["<", "below"],
  ["<=", "at most"],
  [">", "above"],
  [">=", "at least"],
  ["~", "contains, or fits a pattern with * and ?"],
  ["!~", "does not contain"],
  ["in (", "one of"],
  ["is null", "has no such value"],
  ["is not null", "has a value"],
];

const MAX_SUGGESTIONS = 12;

/** Suggestions for a completion; `values` are the known values of its field. */
export function suggest(
  completion: Completion,
  columns: readonly RunColumn[],
  values: readonly string[],
): Suggestion[] {
  const typed = completion.typed.toLowerCase().replace(/^["']/, "");
  switch (completion.expected) {
    case "field":
      return best(columns.map(fieldSuggestion), typed);
    case "operator":
    case "join": {
      const joins = [
        { insert: "and ", label: "and", detail: "both" },
        { insert: "or ", label: "or", detail: "either" },
      ];
      const signs = OPERATORS.map(([sign, detail]) => ({
        insert: `${sign}${sign.endsWith("(") ? "" : " "}`,
        label: sign,
        detail,
      }));
      const all = completion.expected === "join" ? joins : [...signs, ...joins];
      // A complete word needs no suggestion: Enter should run the query then.
      return all.filter((one) => one.label.startsWith(typed) && one.label !== typed);
    }
    case "value":
      return best(
        values.map((value) => ({ insert: `${quoted(value)} `, label: value, detail: "" })),
        typed,
      );
    case "null":
      return [
        { insert: "null ", label: "null", detail: "" },
        { insert: "not null ", label: "not null", detail: "" },
      ];
    case "list":
      return [];
  }
}

function fieldSuggestion(column: RunColumn): Suggestion {
  return {
    insert: `${column.key} `,
    label: column.key,
    detail: column.source === "run" ? column.type : `${column.source}, ${column.type}`,
  };
}

/** Those that begin with what was typed, then those that contain it; all of them when nothing was typed yet. */
function best(all: readonly Suggestion[], typed: string): Suggestion[] {
  if (typed === "") return all.slice(0, MAX_SUGGESTIONS);
  const rank = (one: Suggestion) => {
    const label = one.label.toLowerCase();
    if (label === typed) return 3;
    if (label.startsWith(typed)) return 0;
    return label.replace(/^config\./, "").startsWith(typed) || label.includes(`/${typed}`)
      ? 1
      : label.includes(typed)
        ? 2
        : 9;
  };
  return all
    .map((one) => ({ one, at: rank(one) }))
    .filter(({ at }) => at < 9)
    .sort((a, b) => a.at - b.at)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ one }) => one);
}

/** A value as the query language needs it: in quotes when it is not a plain word or number. */
export function quoted(value: string): string {
  const plain = /^[\w./:+-]+$/.test(value) && !/^(and|or|not|in|is|null|missing)$/i.test(value);
  return plain ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** The query for one project: the person's query stays as typed, behind `prefix`. */
export function inProject(project: string, query: string): { query: string; prefix: number } {
  if (project === "") return { query, prefix: 0 };
  const head = `project = "${project.replace(/["\\]/g, "\\$&")}"`;
  if (query.trim() === "") return { query: head, prefix: 0 };
  return { query: `${head} and (${query})`, prefix: [...head].length + " and (".length };
}

/** The server counts characters as Python does; JavaScript counts two for an emoji. */
export function caretColumn(query: string, position: number, prefix: number): number {
  const wanted = Math.max(0, position - prefix);
  return [...query].slice(0, wanted).join("").length;
}
