/**
 * The kinds of panels that a report can have. A kind is one `.tsx` file of this folder, found by listing it; its twin,
 * which says what a shared file has to carry for it, is `src/stepscope/views/panels/<kind>.py`.
 */

import type { ComponentType } from "preact";
import type { Options } from "../lib/report-text";
import type { ReportRun } from "../lib/schema";

export interface PanelProps {
  options: Options;
  runs: readonly ReportRun[];
}

/** One line of the form that makes or changes a panel. */
export interface Field {
  /** The option's name in the text. */
  name: string;
  label: string;
  /** What may be chosen: `metric`, `metrics`, `media` and `histogram` are completed from what the runs logged. */
  type:
    | "metric"
    | "metrics"
    | "media"
    | "histogram"
    | "config"
    | "column"
    | "columns"
    | "text"
    | "long"
    | "number"
    | "flag"
    | "choice"
    | "smoothing";
  choices?: readonly { value: string; label: string }[];
  hint?: string;
  required?: boolean;
}

export interface PanelKind {
  kind: string;
  title: string;
  /** One line that says what one gets. */
  hint: string;
  fields: readonly Field[];
  /** What a new panel of this kind begins with. */
  example?: Options;
  /** How many runs it takes at least; 0 for a panel that is about none. */
  needs?: number;
  /** As wide as the text, instead of wider. */
  narrow?: boolean;
  Panel: ComponentType<PanelProps>;
}

const files = import.meta.glob<{ default: PanelKind }>("./*.tsx", { eager: true });
const ORDER = [
  "chart",
  "lines",
  "values",
  "scatter",
  "table",
  "image",
  "finding",
  "note",
  "bars",
  "band",
  "metrics",
  "diff",
  "changed",
  "media",
  "distribution",
  "graph",
  "profile",
  "parallel",
  "console",
  "vega",
];
const rank = ({ kind }: PanelKind): number => (ORDER.indexOf(kind) + ORDER.length + 1) % (ORDER.length + 1);

/** All kinds, those that are used most first. */
export const PANELS: readonly PanelKind[] = Object.values(files)
  .map((file) => file.default)
  .sort((a, b) => rank(a) - rank(b));

export function kindNamed(name: string): PanelKind | null {
  return PANELS.find((one) => one.kind === name) ?? null;
}

/** An option that is text, or "". */
export function textOf(options: Options, name: string): string {
  const value = options[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** An option that is a number, or null. */
export function numberOf(options: Options, name: string): number | null {
  const value = options[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Names in an option: a JSON list, or text with commas. */
export function namesOf(options: Options, name: string): string[] {
  const value = options[name];
  if (Array.isArray(value)) return value.map(String).filter(Boolean);
  return textOf(options, name)
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}
