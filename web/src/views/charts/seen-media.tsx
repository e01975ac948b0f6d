/** What the browser shows by itself: images, sounds, videos; and files to download. */

import { useState } from "preact/hooks";
import { Dialog } from "../../components";
import { formatBytes, visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { runName } from "../../twins";

/** Pixels of small images are drawn as squares: a digit of 8 x 8 is not a blur. */
const SMALL_PX = 128;

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

function Missing({ what }: { what: string }) {
  return <p class="none">The {what}'s bytes are not in the run folder.</p>;
}

export function ImageView({ item, large }: { item: MediaItem; large: boolean }) {
  const [open, setOpen] = useState(false);
  const [failed, setFailed] = useState(false);
  if (!item.url) return <Missing what="image" />;
  if (failed) return <p class="none">The image could not be shown.</p>;
  const width = numberOf(item.meta.width);
  const height = numberOf(item.meta.height);
  const cell = Array.isArray(item.meta.cell) ? Math.max(...item.meta.cell.map(numberOf)) : 0;
  const small = item.kind !== "figure" && (cell > 0 ? cell : Math.max(width, height)) <= SMALL_PX;
  const name = `${visibleText(item.key)} of ${runName(item.run)} at step ${item.step}`;
  const picture = (
    <img
      src={item.url}
      alt={name}
      data-small={small || undefined}
      loading="lazy"
      decoding="async"
      onError={() => setFailed(true)}
    />
  );
  return (
    <>
      <button
        type="button"
        class="picture"
        data-large={large || undefined}
        aria-label={`Enlarge ${name}`}
        onClick={() => setOpen(true)}
      >
        {picture}
      </button>
      {open ? (
        <Dialog title={name} onClose={() => setOpen(false)} wide>
          <div class="picture-large">{picture}</div>
          <p class="tiny quiet media-caption">
            {width} × {height} pixels ·{" "}
            <a href={item.url} download>
              Download
            </a>
          </p>
        </Dialog>
      ) : null}
    </>
  );
}

export function AudioView({ item }: { item: MediaItem }) {
  return item.url ? <audio controls preload="none" src={item.url} /> : <Missing what="sound" />;
}

export function VideoView({ item }: { item: MediaItem }) {
  if (!item.url) return <Missing what="video" />;
  if (item.mime.startsWith("image/")) return <ImageView item={item} large={false} />;
  return <video controls preload="metadata" src={item.url} />;
}

/**
 * A logged page, in a frame that may neither run scripts nor fetch anything: the server's policy for it says so too.
 */
export function HtmlView({ item }: { item: MediaItem }) {
  if (!item.url?.startsWith("/api/blob/")) return <Missing what="page" />;
  return (
    <>
      <iframe
        class="page-frame"
        sandbox=""
        loading="lazy"
        title={`${visibleText(item.key)} of ${runName(item.run)} at step ${item.step}`}
        src={item.url.replace("/api/blob/", "/api/page/")}
      />
      <p class="tiny quiet media-caption">
        scripts do not run here ·{" "}
        <a href={`${item.url}?save=true`} download>
          Download
        </a>
      </p>
    </>
  );
}

export function FileView({ item }: { item: MediaItem }) {
  const name = typeof item.meta.name === "string" ? item.meta.name : item.key;
  return (
    <p class="none">
      {item.url ? (
        <a href={item.url} download class="isolate">
          {visibleText(name)}
        </a>
      ) : (
        visibleText(name)
      )}
      {typeof item.meta.size === "number" ? ` · ${formatBytes(item.meta.size)}` : ""}
    </p>
  );
}
