/** Plotly figures, read as data: the traces we can draw ourselves, and what is left out. */

export interface XYTrace {
  kind: "line" | "points" | "both" | "bar";
  name: string;
  x: number[];
  y: number[];
  /** Names on the x-axis, when they are words. */
  labels: string[] | null;
  colour: string | null;
}

export interface Matrix {
  kind: "heatmap";
  values: (number | null)[][];
  columns: string[];
  rows: string[];
}

export interface Figure {
  title: string;
  xTitle: string;
  yTitle: string;
  xy: XYTrace[];
  matrix: Matrix | null;
  /** Kinds of traces that are in the file but not drawn. */
  undrawn: string[];
}

const MOST_POINTS = 20_000;
type Raw = Record<string, unknown>;

const isRecord = (v: unknown): v is Raw => typeof v === "object" && v !== null && !Array.isArray(v);
const words = (v: unknown): string =>
  typeof v === "string" ? v : isRecord(v) && typeof v.text === "string" ? v.text : "";

const TYPES: Record<string, new (b: ArrayBuffer) => ArrayLike<number>> = {
  f8: Float64Array,
  f4: Float32Array,
  i4: Int32Array,
  u4: Uint32Array,
  i2: Int16Array,
  u2: Uint16Array,
  i1: Int8Array,
  u1: Uint8Array,
};

/** A plain list, or plotly 6's `{dtype, bdata}` in base 64. */
function values(raw: unknown): unknown[] {
  if (Array.isArray(raw)) return raw.slice(0, MOST_POINTS);
  if (!isRecord(raw) || typeof raw.bdata !== "string" || typeof raw.dtype !== "string") return [];
  const type = TYPES[raw.dtype];
  if (!type) return [];
  try {
    const bytes = Uint8Array.from(atob(raw.bdata), (c) => c.charCodeAt(0));
    const flat = Array.from(new type(bytes.buffer)).slice(0, MOST_POINTS);
    const width = typeof raw.shape === "string" ? Number(raw.shape.split(",")[1]) : 0;
    return width > 0
      ? Array.from({ length: flat.length / width }, (_, r) => flat.slice(r * width, (r + 1) * width))
      : flat;
  } catch {
    return []; // Not base 64, or not a whole number of items: nothing to draw.
  }
}

const asNumber = (v: unknown): number => (typeof v === "number" ? v : Number.NaN);

function xyTrace(raw: Raw): XYTrace {
  const ys = values(raw.y).map(asNumber);
  const given = values(raw.x);
  const named = given.some((v) => typeof v === "string");
  const mode = typeof raw.mode === "string" ? raw.mode : "lines";
  const line = isRecord(raw.line) ? raw.line.color : isRecord(raw.marker) ? raw.marker.color : null;
  const kind =
    raw.type === "bar" ? "bar" : mode.includes("lines") ? (mode.includes("markers") ? "both" : "line") : "points";
  return {
    kind,
    name: words(raw.name),
    x: named || given.length === 0 ? ys.map((_, i) => i) : given.map(asNumber),
    y: ys,
    labels: named ? given.map(String) : null,
    colour: typeof line === "string" && /^(#[0-9a-f]{3,8}|rgba?\([\d\s.,%]+\)|[a-z]+)$/i.test(line) ? line : null,
  };
}

function matrixOf(raw: Raw): Matrix | null {
  const grid = values(raw.z).map((row) =>
    values(row).map((v) => (typeof v === "number" && Number.isFinite(v) ? v : null)),
  );
  if (grid.length === 0 || grid.length * (grid[0]?.length ?? 0) > MOST_POINTS) return null;
  return { kind: "heatmap", values: grid, columns: values(raw.x).map(String), rows: values(raw.y).map(String) };
}

/** Reads plotly JSON; null when it is not a figure at all. */
export function readFigure(text: string): Figure | null {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(raw) || !Array.isArray(raw.data)) return null;
  const layout = isRecord(raw.layout) ? raw.layout : {};
  const axis = (v: unknown): string => (isRecord(v) ? words(v.title) : "");
  const out: Figure = {
    title: words(layout.title),
    xTitle: axis(layout.xaxis),
    yTitle: axis(layout.yaxis),
    xy: [],
    matrix: null,
    undrawn: [],
  };
  for (const trace of raw.data) {
    if (!isRecord(trace)) continue;
    const type = typeof trace.type === "string" ? trace.type : "scatter";
    if (type === "scatter" || type === "scattergl" || type === "bar") out.xy.push(xyTrace(trace));
    else if (type === "heatmap" && !out.matrix) out.matrix = matrixOf(trace);
    else out.undrawn.push(type);
  }
  return out;
}
