/** Boxes that were logged with a picture, read from its record: `meta.boxes`, whoever wrote it. */

import { hashOf, PALETTE } from "./colour";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
  colour: string;
}

const MOST = 500;
const isRecord = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

/** Each is `{box: [x0, y0, x1, y1], label, score}` in pixels; what is not a box is left out. */
export function boxesOf(meta: Record<string, unknown>, width: number, height: number): Box[] {
  if (!Array.isArray(meta.boxes) || width <= 0 || height <= 0) return [];
  return meta.boxes.slice(0, MOST).flatMap((raw) => {
    const given = isRecord(raw) ? raw.box : raw;
    if (!Array.isArray(given) || given.length !== 4 || !given.every((v) => typeof v === "number" && Number.isFinite(v)))
      return [];
    const [x0, y0, x1, y1] = given as [number, number, number, number];
    if (x1 <= x0 || y1 <= y0) return [];
    const name =
      isRecord(raw) && (typeof raw.label === "string" || typeof raw.label === "number") ? String(raw.label) : "";
    const score = isRecord(raw) && typeof raw.score === "number" ? ` ${raw.score.toFixed(2)}` : "";
    const ink = PALETTE[hashOf(name) % PALETTE.length];
    return [
      {
        x: x0,
        y: y0,
        width: x1 - x0,
        height: y1 - y0,
        label: `${name}${score}`.trim(),
        colour: ink?.dark ?? "#5b9dff",
      },
    ];
  });
}
