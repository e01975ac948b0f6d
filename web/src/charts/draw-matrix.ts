/** A grid of numbers as a heat map: confusion matrices and plotly heat maps. */

import { formatNumber } from "../lib/format";
import { heatScale, type Inks, readableOn } from "./inks";

export interface MatrixData {
  values: readonly (readonly (number | null)[])[];
  columns: readonly string[];
  rows: readonly string[];
  /** Colour by the share of the row instead of the number itself: classes are rarely equally many. */
  byRow: boolean;
  xTitle?: string;
  yTitle?: string;
  /** Differences: above nothing in the colour, below in this one. */
  below?: string;
  /** How a number is written into its cell. */
  say?(value: number): string;
}

const LEFT = 64;
const BOTTOM = 40;

function matrixBox(size: { width: number; height: number }) {
  return {
    left: LEFT,
    top: 8,
    width: Math.max(20, size.width - LEFT - 12),
    height: Math.max(20, size.height - BOTTOM - 8),
  };
}

export function drawMatrix(
  ctx: CanvasRenderingContext2D,
  data: MatrixData,
  size: { width: number; height: number },
  inks: Inks,
  colour: string,
): void {
  const box = matrixBox(size);
  const rows = data.values.length;
  const columns = Math.max(1, ...data.values.map((r) => r.length));
  const w = box.width / columns;
  const h = box.height / rows;
  const tint = heatScale(inks, colour);
  const tintBelow = data.below ? heatScale(inks, data.below) : tint;
  const numbers = data.values.flat().filter((v): v is number => v !== null && Number.isFinite(v));
  const least = numbers.reduce((a, b) => Math.min(a, b), data.byRow ? 0 : Number.POSITIVE_INFINITY);
  const most = numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const far = Math.max(Math.abs(least), Math.abs(most), Number.MIN_VALUE);
  const gap = w > 6 && h > 6 ? 1 : 0;
  ctx.font = `11px ${inks.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  data.values.forEach((row, i) => {
    const total = row.reduce<number>((sum, v) => sum + (v ?? 0), 0);
    row.forEach((v, j) => {
      if (v === null || !Number.isFinite(v)) return;
      const part = data.below
        ? Math.abs(v) / far
        : data.byRow
          ? total > 0
            ? v / total
            : 0
          : most > least
            ? (v - least) / (most - least)
            : 0.5;
      const fill = (v < 0 ? tintBelow : tint)(0.04 + part * 0.9);
      ctx.fillStyle = fill;
      ctx.fillRect(box.left + j * w, box.top + i * h, Math.max(0.5, w - gap), Math.max(0.5, h - gap));
      if (w < 24 || h < 13) return;
      ctx.fillStyle = readableOn(fill);
      ctx.globalAlpha = v === 0 ? 0.35 : 1;
      ctx.fillText(data.say?.(v) ?? formatNumber(v, 3), box.left + (j + 0.5) * w, box.top + (i + 0.5) * h, w - 4);
      ctx.globalAlpha = 1;
    });
  });
  labels(ctx, data, box, inks, { w, h, rows, columns });
}

function labels(
  ctx: CanvasRenderingContext2D,
  data: MatrixData,
  box: ReturnType<typeof matrixBox>,
  inks: Inks,
  cell: { w: number; h: number; rows: number; columns: number },
): void {
  ctx.fillStyle = inks.quiet;
  const everyX = Math.max(1, Math.ceil(28 / cell.w));
  const everyY = Math.max(1, Math.ceil(13 / cell.h));
  const cut = (text: string): string => (text.length > 10 ? `${text.slice(0, 9)}…` : text);
  for (let j = 0; j < cell.columns; j += everyX) {
    ctx.fillText(
      cut(data.columns[j] ?? String(j)),
      box.left + (j + 0.5) * cell.w,
      box.top + box.height + 12,
      cell.w * everyX - 2,
    );
  }
  ctx.textAlign = "right";
  for (let i = 0; i < cell.rows; i += everyY)
    ctx.fillText(cut(data.rows[i] ?? String(i)), box.left - 6, box.top + (i + 0.5) * cell.h, LEFT - 22);
  ctx.textAlign = "center";
  if (data.xTitle) ctx.fillText(data.xTitle, box.left + box.width / 2, box.top + box.height + 28, box.width);
  if (!data.yTitle) return;
  ctx.save();
  ctx.translate(9, box.top + box.height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(data.yTitle, 0, 0, box.height);
  ctx.restore();
}

/** The cell under a pixel, or null. */
export function matrixSpot(
  data: MatrixData,
  size: { width: number; height: number },
  px: number,
  py: number,
): [number, number] | null {
  const box = matrixBox(size);
  const row = Math.floor(((py - box.top) / box.height) * data.values.length);
  const column = Math.floor(((px - box.left) / box.width) * (data.values[0]?.length ?? 0));
  return data.values[row]?.[column] === undefined ? null : [row, column];
}
