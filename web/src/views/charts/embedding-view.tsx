/** Vectors on the plane that keeps most of their differences; each with its label and picture under the pointer. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { drawXY, nearestPoint, type XYLine } from "../../charts/draw-xy";
import type { Inks } from "../../charts/inks";
import { type Projected, principalPlane } from "../../lib/chart-pca";
import { classLook } from "../../lib/class-inks";
import { formatNumber, visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { isDark } from "../../theme";
import { Canvas, type Size } from "./canvas";

const MOST_ROWS = 5000;
const MOST_BYTES = 20 << 20;

interface Loaded extends Projected {
  labels: string[];
}

/** The row under the pointer, and where to say so. */
interface Spot {
  row: number;
  left: number;
  top: number;
}

/** Reads rows and labels and projects them; fails in words. */
async function loadEmbedding(item: MediaItem, stop: AbortSignal): Promise<Loaded | string> {
  const { rows, width } = item.meta;
  if (typeof rows !== "number" || typeof width !== "number" || !item.url)
    return "The vectors are not in the run folder.";
  if (rows > MOST_ROWS || rows * width * 4 > MOST_BYTES)
    return `${rows.toLocaleString("en-US")} × ${width} values are too many to project here.`;
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

const NEAR_PX = 10;
const CARD_PX = 110;

export function EmbeddingView({ item, sprites }: { item: MediaItem; sprites: MediaItem | undefined }) {
  const [loaded, setLoaded] = useState<Loaded | string | null>(null);
  const [spot, setSpot] = useState<Spot | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    loadEmbedding(item, stop.signal).then(setLoaded, (fault) => stop.signal.aborted || setLoaded(String(fault)));
    return () => stop.abort();
  }, [item.url]);
  const dark = isDark.value;
  const colour = lookOfRun(item.run).colour;
  const classes = useMemo(() => (loaded && typeof loaded !== "string" ? byLabel(loaded) : []), [loaded]);
  const lines = useMemo<XYLine[]>(
    () => classes.map((c, i) => ({ ...c, ...(classes.length > 1 ? classLook(i, dark) : { colour }) })),
    [classes, dark, colour],
  );
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => drawXY(ctx, lines, size, inks),
    [lines],
  );
  if (loaded === null) return <p class="none">Projecting…</p>;
  if (typeof loaded === "string") return <p class="none">{loaded}</p>;
  const point = (px: number, py: number, size: Size) => {
    const near = nearestPoint(lines, size, px, py, NEAR_PX);
    const row = near && classes[near.line]?.rows[near.index];
    setSpot(
      row === null || row === undefined
        ? null
        : { row, left: px > size.width - CARD_PX ? px - CARD_PX : px + 12, top: Math.max(0, py - 30) },
    );
  };
  const broken = typeof item.meta.nan === "number" ? item.meta.nan : 0;
  return (
    <div class="page figure">
      <div class="fill-down anchor embedding">
        <Canvas
          label={`${loaded.x.length} vectors on their first two principal components`}
          draw={draw}
          onPoint={point}
          onLeave={() => setSpot(null)}
        />
        {spot ? (
          <div class="vstack one-line floating tip embedding-card" style={{ left: spot.left, top: spot.top }}>
            {sprites ? <Sprite item={item} sheet={sprites} row={spot.row} /> : null}
            <span class="isolate">{visibleText(loaded.labels[spot.row] ?? "")}</span>
            <span class="quiet">row {spot.row.toLocaleString("en-US")}</span>
          </div>
        ) : null}
      </div>
      <p class="wraps scroll figure-legend">
        {classes.length > 1
          ? classes.slice(0, 12).map((c, i) => (
              <span key={c.name} class="isolate">
                <span
                  class="ink"
                  data-shape={classLook(i, dark).shape}
                  style={{ background: classLook(i, dark).colour }}
                />{" "}
                {visibleText(c.name)}
              </span>
            ))
          : null}
        <span>
          first two principal components, {formatNumber(loaded.explained * 100, 3)}% of the variance
          {broken > 0 ? `; ${broken.toLocaleString("en-US")} rows are not finite` : ""}
        </span>
      </p>
    </div>
  );
}

/** Cells of a sheet stand this far apart; `arrange` in track/media/pixels.py makes them so. */
const GAP_PX = 2;
const SPRITE_PX = 64;

/** One picture of the sheet, its pixels as squares. */
export function Sprite({
  item,
  sheet,
  row,
  size = SPRITE_PX,
}: {
  item: MediaItem;
  sheet: MediaItem;
  row: number;
  size?: number;
}) {
  const cell = item.meta.sprite_cell;
  const columns = item.meta.sprite_columns;
  if (!sheet.url || !Array.isArray(cell) || typeof columns !== "number" || columns < 1) return null;
  const [width, height] = cell.map(Number) as [number, number];
  const left = GAP_PX + (row % columns) * (width + GAP_PX);
  const top = GAP_PX + Math.floor(row / columns) * (height + GAP_PX);
  const zoom = size / Math.max(width, height, 1);
  return (
    <span class="clipped block sprite" style={{ width: width * zoom, height: height * zoom }}>
      <img src={sheet.url} alt="" style={{ transform: `scale(${zoom}) translate(${-left}px, ${-top}px)` }} />
    </span>
  );
}

const MOST_CLASSES = 12;

function byLabel(loaded: Loaded): (Omit<XYLine, "colour"> & { rows: number[] })[] {
  const names = [...new Set(loaded.labels)];
  const groups =
    names.length >= 2 && names.length <= MOST_CLASSES
      ? names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
      : [""];
  return groups.map((name) => {
    const rows = [...loaded.x.keys()].filter((i) => groups.length === 1 || loaded.labels[i] === name);
    return {
      kind: "points",
      name,
      labels: null,
      radius: 2,
      rows,
      x: rows.map((i) => loaded.x[i] as number),
      y: rows.map((i) => loaded.y[i] as number),
    };
  });
}
