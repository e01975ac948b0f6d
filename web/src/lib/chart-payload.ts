/** The JSON inside tables, curves and confusion matrices, read with care: it comes from files. */

export interface Table {
  columns: string[];
  rows: unknown[][];
}

export interface Curve {
  label: string;
  x: number[];
  y: number[];
  area: number | null;
  /** The score from which on something counts as positive, for each point; null where there is none. */
  thresholds?: (number | null)[];
}

export interface Confusion {
  labels: string[];
  counts: number[][];
}

type Raw = Record<string, unknown>;
const isRecord = (v: unknown): v is Raw => typeof v === "object" && v !== null && !Array.isArray(v);

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null;
  }
}

const numbers = (v: unknown): number[] =>
  Array.isArray(v) ? v.map((n) => (typeof n === "number" ? n : Number.NaN)) : [];

export function readTable(text: string | null): Table | null {
  const raw = parse(text);
  if (!isRecord(raw) || !Array.isArray(raw.columns) || !Array.isArray(raw.rows)) return null;
  return { columns: raw.columns.map(String), rows: raw.rows.filter(Array.isArray) as unknown[][] };
}

function curve(raw: unknown, label: string, area: unknown): Curve | null {
  if (!isRecord(raw)) return null;
  const x = numbers(raw.x);
  const y = numbers(raw.y);
  if (!x.length || x.length !== y.length) return null;
  const thresholds =
    Array.isArray(raw.thresholds) && raw.thresholds.length === x.length
      ? { thresholds: raw.thresholds.map((t) => (typeof t === "number" ? t : null)) }
      : {};
  return { label, x, y, area: typeof area === "number" ? area : null, ...thresholds };
}

/** One curve, a list of them, or one per class. */
export function readCurves(text: string | null, meta: Raw): Curve[] {
  const raw = parse(text);
  const labels = Array.isArray(meta.labels) ? meta.labels.map(String) : [];
  const areas = meta.area;
  const areaOf = (i: number, label: string): unknown =>
    Array.isArray(areas) ? areas[i] : isRecord(areas) ? areas[label] : areas;
  const inner =
    isRecord(raw) && isRecord(raw.curves) ? raw.curves : isRecord(raw) && Array.isArray(raw.curves) ? raw.curves : raw;
  if (isRecord(inner) && Array.isArray(inner.x))
    return [curve(inner, labels[0] ?? "", areaOf(0, labels[0] ?? ""))].filter((c) => c !== null);
  const entries: [string, unknown][] = Array.isArray(inner)
    ? inner.map((c, i) => [isRecord(c) && typeof c.label === "string" ? c.label : (labels[i] ?? String(i)), c])
    : isRecord(inner)
      ? Object.entries(inner)
      : [];
  return entries.map(([label, c], i) => curve(c, label, areaOf(i, label))).filter((c) => c !== null);
}

export function readConfusion(text: string | null): Confusion | null {
  const raw = parse(text);
  if (!isRecord(raw) || !Array.isArray(raw.counts)) return null;
  const counts = raw.counts.map(numbers);
  const size = counts.length;
  if (size === 0 || counts.some((row) => row.length !== size)) return null;
  const labels = Array.isArray(raw.labels) ? raw.labels.map(String) : [];
  return { labels: counts.map((_, i) => labels[i] ?? String(i)), counts };
}

/** Orders cells as people expect: numbers by size, then words, then nothing. */
export function compareCells(a: unknown, b: unknown): number {
  const left = typeof a === "number" && !Number.isNaN(a);
  const right = typeof b === "number" && !Number.isNaN(b);
  if (left && right) return a - b;
  if (left !== right) return left ? -1 : 1;
  const none = Number(a === null || a === undefined) - Number(b === null || b === undefined);
  return none || String(a).localeCompare(String(b), "en", { numeric: true });
}
