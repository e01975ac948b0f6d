/** Images: as logged, or adjusted; a list is a contact sheet; a click opens them large. */

import { useEffect, useRef, useState } from "preact/hooks";
import { pixelsOf, paint, TOO_MANY_PIXELS } from "../../charts/pixels";
import { visibleText } from "../../lib/format";
import { adjusted, isNeutral } from "../../lib/image-adjust";
import { boxesOf } from "../../lib/image-boxes";
import type { MediaItem } from "../../lib/schema";
import { Cells, type ContentProps } from "./content";
import { openLarge } from "./lightbox-state";
import { useLookPlace } from "./look-place";
import { runName } from "../../twins";
import * as settings from "./settings";

/** Pixels of small images are drawn as squares: a digit of 8 x 8 is not a blur. */
const SMALL_PX = 160;
/** Above this a picture is decoded only when a person asks for it. */
const HUGE_PIXELS = 40_000_000;
/** Of a list, as many are shown at first. */
const SHEET = 36;

const numberOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

export const pictureName = (item: MediaItem): string =>
  `${visibleText(item.key)}${item.count > 1 ? ` ${item.index + 1}` : ""} of ${runName(item.run)} at step ${item.step}`;

export function isSmall(item: MediaItem): boolean {
  const cell = Array.isArray(item.meta.cell) ? Math.max(...item.meta.cell.map(numberOf)) : 0;
  const side = cell > 0 ? cell : Math.max(numberOf(item.meta.width), numberOf(item.meta.height));
  return item.kind !== "figure" && side > 0 && side <= SMALL_PX;
}

/**
 * Its proportions, so that it has its place before its bytes are there. Text, not an object: Preact would write a
 * number as pixels.
 */
export function shapeOf(item: MediaItem): string | undefined {
  const ratio = numberOf(item.meta.width) / numberOf(item.meta.height);
  return ratio > 0 && Number.isFinite(ratio) ? `aspect-ratio: ${Math.max(0.4, Math.min(3, ratio))}` : undefined;
}

export function Pictures({ items, runs, columns, step }: ContentProps) {
  const [all, setAll] = useState(false);
  const most = Math.max(...items.map((item) => item.count));
  const shown = all ? items : items.filter((item) => item.index < SHEET);
  return (
    <>
      <Cells items={shown} runs={runs} columns={columns} step={step} render={(item) => <Picture item={item} />} />
      {most > SHEET && !all ? (
        <button type="button" class="link media-all" onClick={() => setAll(true)}>
          Show all {most}
        </button>
      ) : null}
    </>
  );
}

export function Picture({ item }: { item: MediaItem }) {
  const { owner } = useLookPlace();
  const [failed, setFailed] = useState<string | null>(null);
  const [asked, setAsked] = useState(false);
  const width = numberOf(item.meta.width);
  const height = numberOf(item.meta.height);
  const caption = typeof item.meta.caption === "string" ? visibleText(item.meta.caption) : "";
  if (item.error) return <p class="small quiet media-broken">{visibleText(item.error)}</p>;
  if (!item.url) return <p class="small quiet media-broken">The image's bytes are not in the run folder.</p>;
  if (failed === item.url) return <Broken item={item} />;
  if (width * height > TOO_MANY_PIXELS)
    return <Large item={item} words={`${width} × ${height} pixels: too large to show.`} />;
  if (width * height > HUGE_PIXELS && !asked)
    return <Large item={item} words={`${width} × ${height} pixels.`} onShow={() => setAsked(true)} />;
  const name = pictureName(item);
  return (
    <figure class="shrinks media-pic">
      <div class="anchor">
        <button
          type="button"
          class="full clipped subtle media-open"
          style={shapeOf(item)}
          aria-label={`Inspect ${name}`}
          onClick={() => openLarge(item, owner)}
        >
          {isNeutral(settings.adjust.value) ? (
            <img
              src={item.url}
              alt={name}
              data-small={isSmall(item) || undefined}
              decoding="async"
              draggable={false}
              onError={() => setFailed(item.url)}
            />
          ) : (
            <AdjustedPicture item={item} name={name} onFault={() => setFailed(item.url)} />
          )}
        </button>
        <Boxes item={item} />
      </div>
      {caption ? (
        <figcaption class="isolate ellipsis" title={caption}>
          {caption}
        </figcaption>
      ) : null}
    </figure>
  );
}

function AdjustedPicture({ item, name, onFault }: { item: MediaItem; name: string; onFault(): void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const adjust = settings.adjust.value;
  useEffect(() => {
    let current = true;
    pixelsOf(item.url as string).then(
      (pixels) => current && canvas.current && paint(canvas.current, adjusted(pixels, adjust)),
      () => current && onFault(),
    );
    return () => {
      current = false;
    };
  }, [item.url, adjust]);
  return <canvas ref={canvas} role="img" aria-label={name} data-small={isSmall(item) || undefined} />;
}

/** Boxes that were logged with the picture, drawn over it in its own pixels. */
export function Boxes({ item }: { item: MediaItem }) {
  const width = numberOf(item.meta.width);
  const height = numberOf(item.meta.height);
  const boxes = boxesOf(item.meta, width, height);
  if (boxes.length === 0) return null;
  const unit = Math.max(width, height) / 100;
  return (
    <svg
      class="cover media-boxes"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid meet"
      aria-hidden="true"
    >
      {boxes.map((box, i) => (
        <g key={i} style={{ color: box.colour }}>
          <rect x={box.x} y={box.y} width={box.width} height={box.height} />
          {box.label ? (
            <text x={box.x + unit / 2} y={Math.max(box.y - unit, 4 * unit)} font-size={4.5 * unit}>
              {visibleText(box.label)}
            </text>
          ) : null}
        </g>
      ))}
    </svg>
  );
}

function Broken({ item }: { item: MediaItem }) {
  return (
    <p class="small quiet media-broken">
      This image is damaged, or not the {item.mime} it says it is.{" "}
      <a href={`${item.url}`} download>
        Download
      </a>
    </p>
  );
}

function Large({ item, words, onShow }: { item: MediaItem; words: string; onShow?: () => void }) {
  return (
    <p class="small quiet media-broken">
      {words}{" "}
      {onShow ? (
        <button type="button" class="link" onClick={onShow}>
          Show it
        </button>
      ) : null}{" "}
      <a href={item.url ?? ""} download>
        Download
      </a>
    </p>
  );
}
