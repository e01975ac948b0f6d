/** What a Vega-Lite specification draws: runs and points as plain rows, and the specification made ready for them. */

import type { Line, RunsPage } from "./schema";

export type Row = Record<string, string | number | boolean | null>;

/** `config.lr` -> `config_lr`, `val/acc.max` -> `val_acc_max`: dots and slashes mean something else in Vega. */
export const fieldName = (key: string): string => key.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "");

/** One row for each run. */
export function runRows(page: Pick<RunsPage, "rows">, columns: readonly string[]): Row[] {
  return page.rows.map((row) => ({
    ...Object.fromEntries(columns.map((key, n) => [fieldName(key), row.cells[n] ?? null])),
    run: row.id,
    name: row.name,
    project: row.project,
    status: row.status,
    created: row.created * 1000,
    duration: row.duration_s,
  }));
}

export type PointLine = Pick<Line, "run" | "key" | "x" | "value">;

/** One row for each point of each line. */
export function pointRows(lines: readonly PointLine[], nameOf: (run: string) => string): Row[] {
  return lines.flatMap((line) =>
    line.x.map((step, n) => ({
      run: line.run,
      name: nameOf(line.run),
      metric: line.key,
      step,
      value: line.value[n] ?? null,
    })),
  );
}

/**
 * Why a chart over our data would be empty: an encoding names a field that no row has. Fields that the specification
 * makes itself are known, and other data is its own affair.
 */
export function unknownField(spec: Record<string, unknown>, data: Record<string, Row[]>): string | null {
  const name = (spec.data as { name?: unknown } | undefined)?.name;
  const rows = typeof name === "string" ? data[name] : undefined;
  if (!rows?.length || Object.keys(spec).some((key) => PARTS.includes(key))) return null;
  const known = new Set(rows.flatMap((row) => Object.keys(row)));
  const asked: string[] = [];
  visit(spec, (key, value) => {
    if (key === "as") for (const made of [value].flat()) known.add(String(made));
    if (key === "field" && typeof value === "string") asked.push(value);
  });
  const wrong = asked.find((field) => !known.has(field) && !known.has(field.split(/[.[]/)[0] as string));
  if (wrong === undefined) return null;
  return `The data “${name}” has no field "${wrong}"; ${nearby(wrong, [...known].sort())}.`;
}

const MOST_NAMED = 6;

function nearby(wrong: string, known: readonly string[]): string {
  const plain = fieldName(wrong);
  const alike = known.filter((one) => one === plain || one.startsWith(`${plain}_`) || one.endsWith(`_${plain}`));
  const named = alike.length ? alike : known;
  const shown = named.slice(0, MOST_NAMED).map((one) => `"${one}"`);
  if (alike.length) return `use ${shown.join(" or ")}`;
  return `it has ${shown.join(", ")}${named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : ""}`;
}

function visit(part: unknown, see: (key: string, value: unknown) => void): void {
  if (typeof part !== "object" || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    if (key === "datasets") continue;
    see(key, value);
    visit(value, see);
  }
}

const PARTS = ["facet", "hconcat", "vconcat", "concat", "repeat", "spec"];

/** The specification with our data and the panel's size; throws what a person can read. */
export function readySpec(
  text: string,
  data: Record<string, Row[]>,
  size: { width: number; height: number },
): Record<string, unknown> {
  let spec: unknown;
  try {
    spec = JSON.parse(text);
  } catch (fault) {
    throw new Error(`The specification is not JSON: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
  if (typeof spec !== "object" || spec === null || Array.isArray(spec))
    throw new Error('The specification must be a JSON object, such as { "mark": "bar" }.');
  const given = spec as Record<string, unknown>;
  const whole = !PARTS.some((part) => part in given);
  const fit = whole ? { width: size.width, height: size.height, autosize: { type: "fit", contains: "padding" } } : {};
  return { data: { name: "runs" }, ...fit, ...given, datasets: { ...data, ...(given.datasets as object | undefined) } };
}
