/** Frames of animated pictures (APNG, GIF, WebP), one by one: an `<img>` would only play them. */

import { bytesOf } from "../../lib/media-bytes";

interface Track {
  frameCount: number;
}
interface Decoder {
  tracks: { ready: Promise<void>; selectedTrack: Track | null };
  completed: Promise<void>;
  decode(options: { frameIndex: number }): Promise<{
    image: CanvasImageSource & { displayWidth: number; displayHeight: number; duration: number | null; close(): void };
  }>;
  close(): void;
}
type DecoderClass = {
  new (init: { data: ArrayBuffer; type: string }): Decoder;
  isTypeSupported(type: string): Promise<boolean>;
};

export interface Clip {
  frames: number;
  /** As long as if each frame were shown as long as the first; 0 where that is not said. */
  seconds: number;
  /** Paints a frame into the canvas, which takes its size. */
  paint(frame: number, canvas: HTMLCanvasElement): Promise<void>;
  close(): void;
}

/** In microseconds. */
async function lengthOfFirst(decoder: Decoder): Promise<number> {
  const { image } = await decoder.decode({ frameIndex: 0 });
  const length = image.duration ?? 0;
  image.close();
  return length;
}

/** Null where this browser cannot take such pictures apart; the caller shows them playing instead. */
export async function openClip(url: string, mime: string, stop: AbortSignal): Promise<Clip | null> {
  const known = (globalThis as { ImageDecoder?: DecoderClass }).ImageDecoder;
  if (!known) return null;
  const type = mime === "image/apng" ? "image/png" : mime;
  if (!(await known.isTypeSupported(type))) return null;
  const data = await bytesOf(url, { signal: stop });
  const decoder = new known({ data, type });
  let first: number;
  try {
    await decoder.tracks.ready;
    await decoder.completed;
    first = await lengthOfFirst(decoder);
  } catch {
    decoder.close();
    throw new Error("This clip is damaged, or not of the type it claims to be.");
  }
  const frames = decoder.tracks.selectedTrack?.frameCount ?? 1;
  const seconds = (frames * first) / 1e6;
  let wanted = -1;
  return {
    frames,
    seconds,
    async paint(frame, canvas) {
      wanted = frame;
      const { image } = await decoder.decode({ frameIndex: Math.max(0, Math.min(frames - 1, frame)) });
      // While it was decoded another frame may have been asked for: the older one is not shown after it.
      if (wanted === frame) {
        canvas.width = image.displayWidth;
        canvas.height = image.displayHeight;
        canvas.getContext("2d")?.drawImage(image, 0, 0);
      }
      image.close();
    },
    close: () => decoder.close(),
  };
}
