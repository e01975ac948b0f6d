/**
 * A query as conditions that a click adds or takes away. The server alone decides what a query means; this edits its
 * text.
 */

import { type QueryToken, quoted, tokens } from "./query";
import type { Cell } from "./schema";

interface Term {
  text: string;
  /** Set where the term is `field = value` or `field in (values)`. */
  field: string | null;
  values: string[];
}

/** The conditions joined by `and` at the top; null where an `or` stands there. */
function termsOf(query: string): Term[] | null {
  const terms: Term[] = [];
  let depth = 0;
  let some: QueryToken[] = [];
  const end = () => {
    const [first, last] = [some[0], some.at(-1)];
    if (first && last) terms.push({ text: query.slice(first.start, last.end), ...comparison(some) });
    some = [];
  };
  for (const token of tokens(query)) {
    if (token.text === "(") depth++;
    if (token.text === ")") depth--;
    const joins = depth === 0 && token.kind === "keyword" ? token.text.toLowerCase() : "";
    if (joins === "or") return null;
    if (joins === "and") end();
    else some.push(token);
  }
  end();
  return terms;
}

const NEVER = { field: null, values: [] };

function comparison(some: readonly QueryToken[]): Pick<Term, "field" | "values"> {
  const [field, sign, ...rest] = some;
  if (!field || !sign) return NEVER;
  const plain = rest.map((token) => unquoted(token.text));
  if ((sign.text === "=" || sign.text === "==") && rest.length === 1) return { field: field.text, values: plain };
  if (sign.text.toLowerCase() !== "in" || rest[0]?.text !== "(" || rest.at(-1)?.text !== ")") return NEVER;
  return {
    field: field.text,
    values: rest
      .slice(1, -1)
      .filter((token) => token.kind !== "comma")
      .map((token) => unquoted(token.text)),
  };
}

const unquoted = (text: string): string =>
  /^(["']).*\1$/s.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, "$1") : text;

/** A value as it is compared: numbers by all their digits. */
const valueText = (value: Exclude<Cell, null>): string => String(value);

function condition(field: string, values: readonly string[]): string {
  return values.length === 1
    ? `${field} = ${quoted(values[0] as string)}`
    : `${field} in (${values.map(quoted).join(", ")})`;
}

/** Whether the query asks for this value. */
export function asksFor(query: string, field: string, value: Cell): boolean {
  if (value === null)
    return termsOf(query)?.some((term) => term.text.toLowerCase() === `${field} is null`.toLowerCase()) ?? false;
  return termsOf(query)?.some((term) => term.field === field && term.values.includes(valueText(value))) ?? false;
}

/** Adds a condition, or takes it away again. Another value of the same field widens it; another tag narrows it. */
export function toggled(query: string, field: string, value: Cell): string {
  const terms = termsOf(query);
  if (terms === null)
    return `(${query.trim()}) and ${value === null ? `${field} is null` : condition(field, [valueText(value)])}`;
  if (value === null) {
    const text = `${field} is null`;
    return joined(
      asksFor(query, field, null)
        ? terms.filter((term) => term.text.toLowerCase() !== text.toLowerCase())
        : [...terms, { text, ...NEVER }],
    );
  }
  const word = valueText(value);
  const at = terms.findIndex((term) => term.field === field && (field !== "tags" || term.values.includes(word)));
  const found = terms[at];
  if (!found) return joined([...terms, { text: condition(field, [word]), ...NEVER }]);
  const values = found.values.includes(word) ? found.values.filter((one) => one !== word) : [...found.values, word];
  const next = values.length ? [{ ...found, text: condition(field, values) }] : [];
  return joined([...terms.slice(0, at), ...next, ...terms.slice(at + 1)]);
}

/** The query with a range of a number in place of the one it had. */
export function withRange(query: string, field: string, low: string, high: string): string {
  const terms = termsOf(query);
  const range = [low.trim() && `${field} >= ${low.trim()}`, high.trim() && `${field} <= ${high.trim()}`]
    .filter(Boolean)
    .map((text) => ({ text, ...NEVER }));
  if (terms === null) return [`(${query.trim()})`, ...range.map((term) => term.text)].join(" and ");
  return joined([...terms.filter((term) => !isRangeOf(term.text, field)), ...range]);
}

function isRangeOf(text: string, field: string): boolean {
  const [name, sign] = tokens(text);
  return name?.text === field && (sign?.text === ">=" || sign?.text === "<=");
}

const joined = (terms: readonly Term[]): string => terms.map((term) => term.text).join(" and ");
