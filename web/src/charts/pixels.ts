/** The pixels of a picture: decoded once, kept while they are looked at, never more than memory allows. */

import type { Pixels } from "../lib/image-adjust";

/** Larger pictures are read smaller: their pixels could not be told apart on a screen anyway. */
export const MOST_PIXELS = 16_000_000;
/** Pictures that claim more than this are not decoded at all. */
export const TOO_MANY_PIXELS = 120_000_000;
const KEPT_PIXELS = 40_000_000;

export interface Decoded extends Pixels {
  /** Pixels of the file for one pixel here: 1, or more for a very large picture. */
  shrunk: number;
}

const kept = new Map<string, Promise<Decoded>>();
const sizes = new Map<string, number>();

/** The pixels behind an address of our own; fails in words. */
export function pixelsOf(url: string): Promise<Decoded> {
  const known = kept.get(url);
  if (known) {
    kept.delete(url);
    kept.set(url, known);
    return known;
  }
  const made = decode(url);
  kept.set(url, made);
  made.then(
    (pixels) => (sizes.set(url, pixels.width * pixels.height), forgetOldest()),
    () => kept.delete(url),
  );
  return made;
}

function forgetOldest(): void {
  let total = [...sizes.values()].reduce((sum, n) => sum + n, 0);
  for (const url of kept.keys()) {
    if (total <= KEPT_PIXELS || kept.size <= 1) return;
    total -= sizes.get(url) ?? 0;
    sizes.delete(url);
    kept.delete(url);
  }
}

async function decode(url: string): Promise<Decoded> {
  const image = new Image();
  image.decoding = "async";
  image.src = url;
  try {
    await image.decode();
  } catch {
    throw new Error("The image is damaged, or not of the type it claims to be.");
  }
  const total = image.naturalWidth * image.naturalHeight;
  if (total === 0 || total > TOO_MANY_PIXELS)
    throw new Error(`An image of ${image.naturalWidth} × ${image.naturalHeight} pixels cannot be read here.`);
  const shrunk = total > MOST_PIXELS ? Math.sqrt(total / MOST_PIXELS) : 1;
  const width = Math.max(1, Math.round(image.naturalWidth / shrunk));
  const height = Math.max(1, Math.round(image.naturalHeight / shrunk));
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const ctx = canvas.getContext("2d", { willReadFrequently: true });
  if (!ctx) throw new Error("This browser does not provide a canvas to read the image with.");
  ctx.drawImage(image, 0, 0, width, height);
  return { width, height, data: ctx.getImageData(0, 0, width, height).data, shrunk };
}

/** Paints pixels into a canvas of their size. */
export function paint(canvas: HTMLCanvasElement, pixels: Pixels): void {
  canvas.width = pixels.width;
  canvas.height = pixels.height;
  canvas
    .getContext("2d")
    ?.putImageData(new ImageData(new Uint8ClampedArray(pixels.data), pixels.width, pixels.height), 0, 0);
}
