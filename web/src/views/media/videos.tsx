/** Clips of all runs under one control: played, stopped and scrubbed together, frame by frame. */

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../../components";
import { visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { clockOf } from "../../lib/wave";
import { type Clip, openClip } from "./clip";
import { Cells, type ContentProps } from "./content";
import { PauseIcon, PlayIcon } from "./icons";
import { keepArrows } from "./look-place";
import { isSmall, pictureName, shapeOf } from "./pictures";

interface Clock {
  /** Where all clips are, 0 to 1. */
  part: Signal<number>;
  playing: Signal<boolean>;
  /** Seconds of the longest clip. */
  length: Signal<number>;
  /** Of the longest animated picture; 0 where nobody knows. */
  frames: Signal<number>;
  /** Addresses of clips that cannot be played. */
  failed: Signal<ReadonlySet<string>>;
}

const numberOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

export function Videos({ items, runs, columns, step }: ContentProps) {
  const part = useSignal(0);
  const playing = useSignal(false);
  const length = useSignal(1);
  const frames = useSignal(0);
  const failed = useSignal<ReadonlySet<string>>(new Set());
  const known = Math.max(0, ...items.map((item) => numberOf(item.meta.frames) / (numberOf(item.meta.fps) || 10)));
  const counted = Math.max(0, ...items.map((item) => numberOf(item.meta.frames)));
  useEffect(() => {
    if (known > 0) length.value = known;
    frames.value = counted;
  }, [known, counted]);
  useEffect(() => {
    if (!playing.value) return;
    let frame = 0;
    let last = performance.now();
    const tick = (now: number) => {
      part.value = (part.peek() + (now - last) / 1000 / Math.max(0.05, length.peek())) % 1;
      last = now;
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [playing.value]);
  const clock = { part, playing, length, frames, failed };
  const playable = items.some((item) => item.url && !item.error && !failed.value.has(item.url));
  return (
    <div class="clip-column">
      <Cells
        items={items}
        runs={runs}
        columns={columns}
        step={step}
        render={(item) => <ClipView item={item} clock={clock} />}
      />
      {playable ? <Controls clock={clock} /> : null}
    </div>
  );
}

const fails = ({ failed }: Clock, url: string) => (failed.value = new Set([...failed.peek(), url]));

/** A clip says how long it is only when it is open; one second stood for "not known". */
function heard({ length }: Clock, seconds: number): void {
  length.value = Math.max(length.peek() === 1 ? 0 : length.peek(), seconds) || 1;
}

function Controls({ clock }: { clock: Clock }) {
  const { part, playing, length } = clock;
  const frames = clock.frames.value;
  return (
    <div class="hstack gap-2 clip-bar" role="group" aria-label="Clips" onKeyDown={keepArrows}>
      <IconButton
        label={playing.value ? "Stop the clips" : "Play the clips"}
        pressed={playing.value}
        onClick={() => (playing.value = !playing.value)}
      >
        {playing.value ? <PauseIcon size={13} /> : <PlayIcon size={13} />}
      </IconButton>
      <input
        class="slider"
        type="range"
        min={0}
        max={0.9999}
        step={frames > 1 ? 1 / frames : 0.001}
        value={part.value}
        aria-label="Position in the clips"
        aria-valuetext={clockOf(part.value * length.value)}
        onInput={(event) => {
          playing.value = false;
          part.value = Number(event.currentTarget.value);
        }}
      />
      <span class="quiet">
        {clockOf(part.value * length.value)} / {clockOf(length.value)}
        {frames > 1 ? ` · frame ${Math.floor(part.value * frames) + 1} of ${frames}` : ""}
      </span>
    </div>
  );
}

function ClipView({ item, clock }: { item: MediaItem; clock: Clock }) {
  if (item.error || !item.url)
    return <p class="small quiet media-broken">{item.error ?? "The video's bytes are not in the run folder."}</p>;
  const caption = typeof item.meta.caption === "string" ? visibleText(item.meta.caption) : "";
  return (
    <figure class="shrinks media-pic">
      {item.mime.startsWith("image/") ? (
        <Animated item={item} url={item.url} clock={clock} />
      ) : (
        <Film item={item} url={item.url} clock={clock} />
      )}
      {caption ? (
        <figcaption class="isolate ellipsis" title={caption}>
          {caption}
        </figcaption>
      ) : null}
    </figure>
  );
}

function Animated({ item, url, clock }: { item: MediaItem; url: string; clock: Clock }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [clip, setClip] = useState<Clip | "play" | string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    let made: Clip | null = null;
    openClip(url, item.mime, stop.signal).then(
      (found) => {
        made = found;
        if (stop.signal.aborted) return found?.close();
        setClip(found ?? "play");
        if (!found || numberOf(item.meta.frames) > 0) return;
        // A file that was logged as it was: nobody counted its frames before.
        clock.frames.value = Math.max(clock.frames.peek(), found.frames);
        heard(clock, found.seconds);
      },
      (fault) => {
        if (stop.signal.aborted) return;
        setClip(fault instanceof Error ? fault.message : String(fault));
        fails(clock, url);
      },
    );
    return () => {
      stop.abort();
      made?.close();
    };
  }, [url]);
  const open = clip !== null && typeof clip !== "string" ? clip : null;
  const frame = open ? Math.floor(clock.part.value * open.frames) : 0;
  useEffect(() => {
    // closed meanwhile, or damaged from here on: the frame before stays
    if (open && canvas.current) open.paint(frame, canvas.current).catch(() => undefined);
  }, [open, frame]);
  if (clip === "play")
    return (
      <img
        class="clip"
        style={shapeOf(item)}
        src={url}
        alt={pictureName(item)}
        data-small={isSmall(item) || undefined}
      />
    );
  if (typeof clip === "string") return <p class="small quiet media-broken">{clip}</p>;
  return (
    <canvas
      ref={canvas}
      class="clip"
      style={shapeOf(item)}
      role="img"
      aria-label={pictureName(item)}
      data-small={isSmall(item) || undefined}
    />
  );
}

function Film({ item, url, clock }: { item: MediaItem; url: string; clock: Clock }) {
  const video = useRef<HTMLVideoElement>(null);
  const [failed, setFailed] = useState(false);
  const part = clock.part.value;
  const playing = clock.playing.value;
  const fail = () => {
    setFailed(true);
    fails(clock, url);
  };
  useEffect(() => {
    const film = video.current;
    if (!film || !(film.duration > 0)) return;
    const wanted = Math.min(film.duration, part * clock.length.peek());
    // Playing films keep their own time; they are only called back when they have drifted.
    if (!playing || Math.abs(film.currentTime - wanted) > 0.3) film.currentTime = wanted;
  }, [part]);
  useEffect(() => {
    if (playing) video.current?.play().catch(fail);
    else video.current?.pause();
  }, [playing]);
  if (failed) {
    return (
      <p class="small quiet media-broken">
        This browser cannot play this {item.mime}.{" "}
        <a href={url} download>
          Download
        </a>
      </p>
    );
  }
  return (
    <video
      ref={video}
      class="clip"
      style={shapeOf(item)}
      muted
      playsInline
      preload="metadata"
      src={url}
      aria-label={pictureName(item)}
      onError={fail}
      onDurationChange={(event) => heard(clock, event.currentTarget.duration || 0)}
    />
  );
}
