/** Confusion matrices: one for each run, as counts or shares; or what changed against a run. */

import { useCallback, useMemo, useState } from "preact/hooks";
import { Select } from "../../components";
import { drawMatrix, type MatrixData, matrixSpot } from "../../charts/draw-matrix";
import type { Inks } from "../../charts/inks";
import { type Confusion, readConfusion } from "../../lib/chart-payload";
import { accuracy, changed, scoreOf, type Share, shares } from "../../lib/confusion";
import { formatNumber, visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { Canvas, type Size } from "../charts/canvas";
import { StepNote } from "./content";
import { RunName } from "./run-heads";
import { runName } from "../../twins";

const SHARES: readonly { value: Share; label: string }[] = [
  { value: "count", label: "Counts" },
  { value: "row", label: "Share of the true class" },
  { value: "column", label: "Share of the predicted class" },
];
const PLAIN = "";
type Spot = [number, number] | null;

export function Confusions({ items, step }: { items: readonly MediaItem[]; step: number | null }) {
  const [how, setHow] = useState<Share>("row");
  const [base, setBase] = useState<string>(PLAIN);
  const [spot, setSpot] = useState<Spot>(null);
  const read = useMemo(
    () => items.filter((item) => item.index === 0).map((item) => ({ item, matrix: readConfusion(item.text) })),
    [items],
  );
  const against = read.find(({ item }) => item.run === base)?.matrix ?? null;
  return (
    <div class="vstack gap-2 media-together">
      <div class="hstack wraps gap-2 small together-bar">
        <Select label="Numbers" value={how} options={SHARES} onChange={(value) => setHow(value)} />
        {read.length > 1 ? (
          <Select
            label="Compare"
            value={against ? base : PLAIN}
            options={[
              { value: PLAIN, label: "Side by side" },
              ...read.map(({ item }) => ({ value: item.run, label: `Change against ${runName(item.run)}` })),
            ]}
            onChange={setBase}
          />
        ) : null}
        <ColourKey signed={against !== null} />
      </div>
      <div class="matrix-columns">
        {read.map(({ item, matrix }) => (
          <article key={item.run} class="shrinks matrix-column">
            <header>
              <RunName run={item.run} />
              <StepNote items={[item]} step={step} />
              {matrix && accuracy(matrix) !== null ? (
                <span class="quiet">accuracy {formatNumber(100 * (accuracy(matrix) as number), 3)}%</span>
              ) : null}
            </header>
            {matrix ? (
              <Matrix
                item={item}
                matrix={matrix}
                base={against && item.run !== base ? against : null}
                how={how}
                spot={spot}
                onSpot={setSpot}
              />
            ) : (
              <p class="small quiet media-none">{item.error ?? "This confusion matrix could not be read."}</p>
            )}
          </article>
        ))}
      </div>
    </div>
  );
}

const MORE = "#c2570c";
const LESS = "#2f6fd0";

function ColourKey({ signed }: { signed: boolean }) {
  if (!signed) return null;
  return (
    <span class="quiet">
      <span class="ink" style={{ background: MORE }} /> more <span class="ink" style={{ background: LESS }} /> less
    </span>
  );
}

interface MatrixProps {
  item: MediaItem;
  matrix: Confusion;
  base: Confusion | null;
  how: Share;
  spot: Spot;
  onSpot(spot: Spot): void;
}

function Matrix({ item, matrix, base, how, spot, onSpot }: MatrixProps) {
  const colour = lookOfRun(item.run).colour;
  const values = useMemo(() => (base ? changed(base, matrix, how) : shares(matrix, how)), [base, matrix, how]);
  const grid = useMemo<MatrixData | null>(
    () =>
      values && {
        values,
        rows: matrix.labels,
        columns: matrix.labels,
        byRow: how === "count" && !base,
        xTitle: "predicted",
        yTitle: "true",
        ...(base ? { below: LESS } : {}),
        say: (value: number) =>
          how === "count" ? formatNumber(value, 3) : value === 0 ? "0" : `${Math.round(100 * value)}`.replace("-", "−"),
      },
    [values, matrix, how, base],
  );
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) =>
      grid && drawMatrix(ctx, grid, size, inks, base ? MORE : colour),
    [grid, colour, base],
  );
  if (!grid) return <p class="small quiet media-none">Its classes differ, so there is nothing to compare.</p>;
  return (
    <>
      <div class="matrix-place">
        <Canvas
          label={`Confusion matrix of ${matrix.labels.length} classes${base ? ", change" : ""}`}
          draw={draw}
          onPoint={(px, py, size) => onSpot(matrixSpot(grid, size, px, py))}
          onLeave={() => onSpot(null)}
        />
      </div>
      <p class="soft small isolate matrix-words">
        {spot ? sayCell(matrix, base, spot) : how === "count" ? "\u00a0" : "numbers in percent"}
      </p>
    </>
  );
}

/** The same cell is said for all runs at once. */
function sayCell(matrix: Confusion, base: Confusion | null, [row, column]: [number, number]): string {
  const value = matrix.counts[row]?.[column];
  if (value === undefined) return "\u00a0";
  const name = (at: number) => visibleText(matrix.labels[at] ?? "");
  const total = matrix.counts[row]?.reduce((sum, n) => sum + n, 0) ?? 0;
  const part = total > 0 ? ` (${formatNumber((100 * value) / total, 3)}%)` : "";
  const was = base?.counts[row]?.[column];
  const before = was === undefined ? "" : `, was ${formatNumber(was)}`;
  if (row !== column) return `${name(row)} predicted as ${name(column)}: ${formatNumber(value)}${part}${before}`;
  const { precision, recall } = scoreOf(matrix, row);
  const percent = (share: number | null) => (share === null ? "–" : `${formatNumber(100 * share, 3)}%`);
  return `${name(row)} right: ${formatNumber(value)}${before}; precision ${percent(precision)}, recall ${percent(recall)}`;
}
