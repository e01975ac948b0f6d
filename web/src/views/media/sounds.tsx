/** Logged sounds as waves: one plays at a time, and the next of the same key goes on where the last one was. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../../components";
import type { Inks } from "../../charts/inks";
import { visibleText } from "../../lib/format";
import { bytesOf } from "../../lib/media-bytes";
import type { MediaItem } from "../../lib/schema";
import { clockOf, type Peaks, peaksOf } from "../../lib/wave";
import { lookOfRun } from "../../state";
import { Canvas, type Size } from "../charts/canvas";
import { Cells, type ContentProps } from "./content";
import { errorWords } from "./data";
import { PauseIcon, PlayIcon } from "./icons";
import { runName } from "../../twins";

const SLICES = 600;
const MOST_BYTES = 64 << 20;

export function Sounds({ items, runs, columns, step }: ContentProps) {
  return (
    <Cells items={items} runs={runs} columns={columns} step={step} wide render={(item) => <Sound item={item} />} />
  );
}

interface Heard {
  url: string;
  peaks: Peaks | null;
}

/** The sound's bytes as something to play, and its wave if the browser can decode it. */
async function hear(item: MediaItem, stop: AbortSignal): Promise<Heard> {
  const bytes = await bytesOf(item.url as string, { signal: stop });
  if (bytes.byteLength > MOST_BYTES) throw new Error("This sound is too large to play here; download it instead.");
  const url = URL.createObjectURL(new Blob([bytes], { type: item.mime }));
  try {
    const decoded = await new OfflineAudioContext(1, 1, 44_100).decodeAudioData(bytes);
    const channels = Array.from({ length: decoded.numberOfChannels }, (_, at) => decoded.getChannelData(at));
    return { url, peaks: peaksOf(channels, SLICES) };
  } catch {
    return { url, peaks: null }; // the player may still know it; if not, it says so itself
  }
}

let current: { audio: HTMLAudioElement; key: string } | null = null;

/** Stops what plays, and takes over its place if it was of the same key. */
function takeOver(audio: HTMLAudioElement, key: string): void {
  if (current && current.audio !== audio) {
    if (current.key === key && !current.audio.paused)
      audio.currentTime = Math.min(current.audio.currentTime, audio.duration || 0);
    current.audio.pause();
  }
  current = { audio, key };
}

function Sound({ item }: { item: MediaItem }) {
  const [heard, setHeard] = useState<Heard | string | null>(null);
  useEffect(() => {
    if (!item.url) return;
    const stop = new AbortController();
    let made: string | null = null;
    setHeard(null);
    hear(item, stop.signal).then(
      (found) => {
        made = found.url;
        if (stop.signal.aborted) URL.revokeObjectURL(found.url);
        else setHeard(found);
      },
      (fault) => stop.signal.aborted || setHeard(fault instanceof Error ? fault.message : errorWords(fault)),
    );
    return () => {
      stop.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [item.url]);
  if (item.error || !item.url)
    return <p class="small quiet media-broken">{item.error ?? "The sound's bytes are not in the run folder."}</p>;
  if (heard === null) return <div class="sound" aria-busy="true" />;
  if (typeof heard === "string") return <p class="small quiet media-broken">{heard}</p>;
  return <Player item={item} heard={heard} />;
}

function Player({ item, heard }: { item: MediaItem; heard: Heard }) {
  const audio = useRef<HTMLAudioElement>(null);
  const [playing, setPlaying] = useState(false);
  const [at, setAt] = useState(0);
  const [length, setLength] = useState(Number.NaN);
  const [failed, setFailed] = useState(false);
  const colour = lookOfRun(item.run).colour;
  useEffect(() => {
    if (!playing) return;
    let frame = 0;
    const tick = () => {
      setAt(audio.current?.currentTime ?? 0);
      frame = requestAnimationFrame(tick);
    };
    tick();
    return () => cancelAnimationFrame(frame);
  }, [playing]);
  const part = length > 0 ? at / length : 0;
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) =>
      heard.peaks && drawWave(ctx, heard.peaks, size, inks, colour, part),
    [heard.peaks, colour, part],
  );
  const toggle = () => {
    const player = audio.current;
    if (!player) return;
    if (!player.paused) return player.pause();
    takeOver(player, item.key);
    player.play().catch(() => setFailed(true));
  };
  const seek = (to: number) => {
    if (!audio.current || !(length > 0)) return;
    audio.current.currentTime = Math.max(0, Math.min(length, to));
    setAt(audio.current.currentTime);
  };
  const caption = typeof item.meta.caption === "string" ? visibleText(item.meta.caption) : "";
  return (
    <div class="sound">
      <audio
        ref={audio}
        src={heard.url}
        preload="metadata"
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => setPlaying(false)}
        onError={() => setFailed(true)}
        onDurationChange={(event) => setLength(event.currentTarget.duration)}
      />
      <IconButton
        label={`${playing ? "Stop" : "Play"} ${visibleText(item.key)} of ${runName(item.run)}`}
        disabled={failed}
        onClick={toggle}
      >
        {playing ? <PauseIcon size={14} /> : <PlayIcon size={14} />}
      </IconButton>
      <div
        class="sound-wave"
        role="slider"
        tabIndex={0}
        aria-label="Position in the sound"
        aria-valuemin={0}
        aria-valuemax={Number.isFinite(length) ? Number(length.toFixed(2)) : 0}
        aria-valuenow={Number(at.toFixed(2))}
        aria-valuetext={`${clockOf(at)} of ${clockOf(length)}`}
        onClick={(event) => {
          const around = event.currentTarget.getBoundingClientRect();
          seek(((event.clientX - around.left) / around.width) * length);
        }}
        onKeyDown={(event) => {
          const by = event.key === "ArrowLeft" ? -0.05 : event.key === "ArrowRight" ? 0.05 : 0;
          if (!by) return;
          event.preventDefault();
          event.stopPropagation();
          seek(at + by * length);
        }}
      >
        {heard.peaks ? (
          <Canvas label="Wave" draw={draw} />
        ) : (
          <span class="quiet">{failed ? "This browser cannot play it." : "no picture of this sound"}</span>
        )}
      </div>
      <span class="tiny one-line quiet sound-time">
        {clockOf(at)} / {clockOf(length)}
      </span>
      {caption ? (
        <p class="tiny isolate ellipsis quiet media-caption" title={caption}>
          {caption}
        </p>
      ) : null}
    </div>
  );
}

/** In the run's colour; what was played is strong. */
function drawWave(
  ctx: CanvasRenderingContext2D,
  { low, high }: Peaks,
  size: Size,
  inks: Inks,
  colour: string,
  part: number,
): void {
  const middle = size.height / 2;
  const scale = middle - 2;
  const width = size.width / low.length;
  ctx.fillStyle = colour;
  for (let slice = 0; slice < low.length; slice++) {
    ctx.globalAlpha = slice / low.length < part ? 1 : 0.45;
    const top = middle - (high[slice] as number) * scale;
    const bottom = middle - (low[slice] as number) * scale;
    ctx.fillRect(slice * width, top, Math.max(0.7, width * 0.8), Math.max(1, bottom - top));
  }
  ctx.globalAlpha = 1;
  ctx.fillStyle = inks.text;
  if (part > 0) ctx.fillRect(Math.round(part * size.width), 0, 1.5, size.height);
}
