/** Curves, confusion matrices and embeddings: data that we draw ourselves. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { drawMatrix, matrixSpot } from "../../charts/draw-matrix";
import { drawXY, type XYLine } from "../../charts/draw-xy";
import type { Inks } from "../../charts/inks";
import { type Projected, principalPlane } from "../../lib/chart-pca";
import { readConfusion, readCurves } from "../../lib/chart-payload";
import { lookOf } from "../../lib/colour";
import { formatNumber, visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { nameOf } from "../../state";
import { isDark } from "../../theme";
import { Canvas, type Size } from "./canvas";
import { lookOn } from "./model";

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
const UNIT: [number, number] = [0, 1.02];

/** PR or ROC curves of all runs in one picture: colour is the run, dash is the class. */
export function CurvesView({ items }: { items: readonly MediaItem[] }) {
  const roc = items[0]?.meta.curve === "roc";
  const curves = useMemo(() => items.flatMap((item) => readCurves(item.text, item.meta).map((curve, i) => ({ item, curve, i }))), [items]);
  const lines: XYLine[] = curves.map(({ item, curve, i }) => ({
    kind: "line",
    name: curve.label,
    x: curve.x,
    y: curve.y,
    labels: null,
    colour: items.length > 1 ? lookOn(item.run).colour : lookOf(i, isDark.value).colour,
    dash: items.length > 1 ? (DASHES[i % DASHES.length] as readonly number[]) : [],
  }));
  const draw = (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) =>
    drawXY(ctx, lines, size, inks, { x: [0, 1], y: UNIT, diagonal: roc, xTitle: roc ? "false positive rate" : "recall" });
  return (
    <div class="figure">
      <Canvas label={`${curves.length} curves`} draw={draw} />
      <p class="figure-legend">
        {curves.slice(0, 12).map(({ item, curve }, n) => (
          <span key={n} class="isolate">
            <span class="ink" style={{ background: lines[n]?.colour }} /> {visibleText(curveName(item, curve.label, items.length, curves.length))}
            {curve.area === null ? "" : ` ${formatNumber(curve.area, 3)}`}
          </span>
        ))}
        {curves.length > 12 ? <span>{curves.length - 12} more</span> : null}
      </p>
    </div>
  );
}

/** The run, the class, or both: whatever tells the curves apart. */
function curveName(item: MediaItem, label: string, runs: number, curves: number): string {
  if (runs === curves) return nameOf(item.run);
  return runs === 1 ? label : `${nameOf(item.run)} ${label}`;
}

export function ConfusionView({ item }: { item: MediaItem }) {
  const [spot, setSpot] = useState<[number, number] | null>(null);
  const matrix = useMemo(() => readConfusion(item.text), [item.text]);
  const colour = lookOn(item.run).colour;
  const grid = useMemo(() => matrix && { values: matrix.counts, rows: matrix.labels, columns: matrix.labels, byRow: true, xTitle: "predicted", yTitle: "true" }, [matrix]);
  const draw = useCallback((ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => grid && drawMatrix(ctx, grid, size, inks, colour), [grid, colour]);
  if (!matrix || !grid) return <p class="panel-empty">This confusion matrix could not be read.</p>;
  const [row, column] = spot ?? [-1, -1];
  const total = matrix.counts[row]?.reduce((sum, n) => sum + n, 0) ?? 0;
  const value = matrix.counts[row]?.[column];
  return (
    <div class="figure">
      <Canvas label={`Confusion matrix of ${matrix.labels.length} classes`} draw={draw} onPoint={(px, py, size) => setSpot(matrixSpot(grid, size, px, py))} onLeave={() => setSpot(null)} />
      <p class="figure-legend">
        {value === undefined ? (
          typeof item.meta.accuracy === "number" ? `accuracy ${formatNumber(item.meta.accuracy, 4)}` : "\u00a0"
        ) : (
          <span class="isolate">
            true {visibleText(matrix.labels[row] ?? "")} as {visibleText(matrix.labels[column] ?? "")}: {formatNumber(value)} ({formatNumber(total > 0 ? (100 * value) / total : 0, 3)} %)
          </span>
        )}
      </p>
    </div>
  );
}

const MOST_ROWS = 5000;
const MOST_BYTES = 20 << 20;

interface Loaded extends Projected {
  labels: string[];
}

/** Reads rows and labels and projects them; fails in words. */
async function loadEmbedding(item: MediaItem, stop: AbortSignal): Promise<Loaded | string> {
  const { rows, width } = item.meta;
  if (typeof rows !== "number" || typeof width !== "number" || !item.url) return "The vectors are not in the run folder.";
  if (rows > MOST_ROWS || rows * width * 4 > MOST_BYTES) return `${rows.toLocaleString("en-US")} × ${width} values are too many to project here.`;
  const answer = await fetch(item.url, { credentials: "same-origin", signal: stop, headers: { "X-Stepscope": "1" } });
  if (!answer.ok) return `The server answered with status ${answer.status}.`;
  const bytes = await answer.arrayBuffer();
  const size = rows * width * 4;
  if (bytes.byteLength < size) return "The vectors are cut off.";
  return { ...principalPlane(new Float32Array(bytes.slice(0, size)), width), labels: labelsOf(bytes.slice(size)) };
}

function labelsOf(bytes: ArrayBuffer): string[] {
  try {
    const raw: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const labels = (raw as { labels?: unknown })?.labels;
    return Array.isArray(labels) ? labels.map(String) : [];
  } catch {
    return []; // No labels were logged.
  }
}

export function EmbeddingView({ item }: { item: MediaItem }) {
  const [loaded, setLoaded] = useState<Loaded | string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    loadEmbedding(item, stop.signal).then(setLoaded, (fault) => stop.signal.aborted || setLoaded(String(fault)));
    return () => stop.abort();
  }, [item.url]);
  const dark = isDark.value;
  const colour = lookOn(item.run).colour;
  const classes = useMemo(() => (loaded && typeof loaded !== "string" ? byLabel(loaded) : []), [loaded]);
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => drawXY(ctx, classes.map((c, i) => ({ ...c, colour: classes.length > 1 ? lookOf(i, dark).colour : colour })), size, inks),
    [classes, dark, colour],
  );
  if (loaded === null) return <p class="panel-empty">Projecting…</p>;
  if (typeof loaded === "string") return <p class="panel-empty">{loaded}</p>;
  return (
    <div class="figure">
      <Canvas label={`${loaded.x.length} vectors on their first two principal components`} draw={draw} />
      <p class="figure-legend">
        {classes.length > 1 ? classes.slice(0, 12).map((c, i) => (
          <span key={c.name} class="isolate">
            <span class="ink" style={{ background: lookOf(i, dark).colour }} /> {visibleText(c.name)}
          </span>
        )) : null}
        <span>first two principal components, {formatNumber(loaded.explained * 100, 3)} % of the variance</span>
      </p>
    </div>
  );
}

const MOST_CLASSES = 12;

function byLabel(loaded: Loaded): Omit<XYLine, "colour">[] {
  const names = [...new Set(loaded.labels)];
  const groups = names.length >= 2 && names.length <= MOST_CLASSES ? names.sort((a, b) => a.localeCompare(b, "en", { numeric: true })) : [""];
  return groups.map((name) => {
    const at = [...loaded.x.keys()].filter((i) => groups.length === 1 || loaded.labels[i] === name);
    return { kind: "points", name, labels: null, radius: 2, x: at.map((i) => loaded.x[i] as number), y: at.map((i) => loaded.y[i] as number) };
  });
}
