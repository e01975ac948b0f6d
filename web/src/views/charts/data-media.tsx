/** Curves and confusion matrices: data that we draw ourselves. */

import { useCallback, useMemo, useState } from "preact/hooks";
import { drawMatrix, matrixSpot } from "../../charts/draw-matrix";
import { drawXY, type XYLine } from "../../charts/draw-xy";
import type { Inks } from "../../charts/inks";
import { readConfusion, readCurves } from "../../lib/chart-payload";
import { lookOf } from "../../lib/colour";
import { formatNumber, visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { isDark } from "../../theme";
import { Canvas, type Size } from "./canvas";
import { lookOfRun, nameOf } from "../../state";

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
const UNIT: [number, number] = [0, 1.02];

/** PR or ROC curves of all runs in one picture: colour is the run, dash is the class. */
export function CurvesView({ items }: { items: readonly MediaItem[] }) {
  const roc = items[0]?.meta.curve === "roc";
  const curves = useMemo(
    () => items.flatMap((item) => readCurves(item.text, item.meta).map((curve, i) => ({ item, curve, i }))),
    [items],
  );
  const lines: XYLine[] = curves.map(({ item, curve, i }) => ({
    kind: "line",
    name: curve.label,
    x: curve.x,
    y: curve.y,
    labels: null,
    colour: items.length > 1 ? lookOfRun(item.run).colour : lookOf(i, isDark.value).colour,
    dash: items.length > 1 ? (DASHES[i % DASHES.length] as readonly number[]) : [],
  }));
  const draw = (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) =>
    drawXY(ctx, lines, size, inks, {
      x: [0, 1],
      y: UNIT,
      diagonal: roc,
      xName: roc ? "false positive rate" : "recall",
    });
  return (
    <div class="page figure">
      <Canvas label={`${curves.length} curves`} draw={draw} />
      <p class="wraps scroll figure-legend">
        {curves.slice(0, 12).map(({ item, curve }, n) => (
          <span key={n} class="isolate">
            <span class="ink" style={{ background: lines[n]?.colour }} />{" "}
            {visibleText(curveName(item, curve.label, items.length, curves.length))}
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
  const colour = lookOfRun(item.run).colour;
  const grid = useMemo(
    () =>
      matrix && {
        values: matrix.counts,
        rows: matrix.labels,
        columns: matrix.labels,
        byRow: true,
        xTitle: "predicted",
        yTitle: "true",
      },
    [matrix],
  );
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => grid && drawMatrix(ctx, grid, size, inks, colour),
    [grid, colour],
  );
  if (!matrix || !grid) return <p class="none">This confusion matrix could not be read.</p>;
  const [row, column] = spot ?? [-1, -1];
  const total = matrix.counts[row]?.reduce((sum, n) => sum + n, 0) ?? 0;
  const value = matrix.counts[row]?.[column];
  return (
    <div class="page figure">
      <Canvas
        label={`Confusion matrix of ${matrix.labels.length} classes`}
        draw={draw}
        onPoint={(px, py, size) => setSpot(matrixSpot(grid, size, px, py))}
        onLeave={() => setSpot(null)}
      />
      <p class="wraps scroll figure-legend">
        {value === undefined ? (
          typeof item.meta.accuracy === "number" ? (
            `accuracy ${formatNumber(item.meta.accuracy, 4)}`
          ) : (
            "\u00a0"
          )
        ) : (
          <span class="isolate">
            true {visibleText(matrix.labels[row] ?? "")} as {visibleText(matrix.labels[column] ?? "")}:{" "}
            {formatNumber(value)} ({formatNumber(total > 0 ? (100 * value) / total : 0, 3)}%)
          </span>
        )}
      </p>
    </div>
  );
}
