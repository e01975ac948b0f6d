/** Files made in the page: pictures and tables, saved without asking the server. */

import type { DrawnLine } from "./draw-lines";
import { readInks } from "./inks";

/** A name that every file system takes. */
export function fileName(title: string, extension: string): string {
  const safe = title
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80);
  return `${safe || "panel"}.${extension}`;
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveText(text: string, type: string, name: string): void {
  saveBlob(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

export interface PictureOptions {
  title: string;
  xLabel: string;
  lines: readonly (DrawnLine & { name: string })[];
}

const TITLE = 36;
const ROW = 18;
const COLUMN = 180;

/** The drawn canvas with a title above and a legend below, as a PNG. */
export function savePng(drawn: HTMLCanvasElement, { title, xLabel, lines }: PictureOptions): void {
  const ratio = drawn.width / drawn.clientWidth || 1;
  const width = drawn.width / ratio;
  const height = drawn.height / ratio;
  const legend = [...new Map(lines.map((l) => [l.line.run, l])).values()].slice(0, 24);
  const columns = Math.max(1, Math.floor((width - 24) / COLUMN));
  const canvas = document.createElement("canvas");
  canvas.width = drawn.width;
  canvas.height = Math.round((height + TITLE + 28 + Math.ceil(legend.length / columns) * ROW) * ratio);
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  const inks = readInks();
  ctx.fillStyle = inks.background;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(drawn, 0, TITLE * ratio);
  ctx.scale(ratio, ratio);
  ctx.fillStyle = inks.text;
  ctx.font = `600 13px ${inks.font}`;
  ctx.fillText(title, 14, 22, width - 28);
  ctx.font = `11px ${inks.font}`;
  ctx.fillStyle = inks.quiet;
  ctx.textAlign = "right";
  ctx.fillText(xLabel, width - 14, 22);
  ctx.textAlign = "left";
  legend.forEach((item, i) => {
    const x = 14 + (i % columns) * COLUMN;
    const y = TITLE + height + 16 + Math.floor(i / columns) * ROW;
    ctx.fillStyle = item.colour;
    ctx.fillRect(x, y - 5, 14, 3);
    ctx.fillStyle = inks.text;
    ctx.fillText(item.name, x + 20, y, COLUMN - 30);
  });
  canvas.toBlob((blob) => blob && saveBlob(blob, fileName(title, "png")), "image/png");
}
