/** Where a picture is looked at, in parts of its size: so pictures of different sizes move together. */

export interface Camera {
  /** The point of the picture in the middle of its pane, each 0 to 1. */
  u: number;
  v: number;
  /** 1 fits the whole picture into the pane. */
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

export const FIT: Camera = { u: 0.5, v: 0.5, zoom: 1 };
/** A pixel of the picture is never larger than this on the screen. */
const LARGEST_PX = 96;

/** Pixels of the screen for one pixel of the picture. */
export function scaleOf(camera: Camera, picture: Size, pane: Size): number {
  return camera.zoom * Math.min(pane.width / picture.width, pane.height / picture.height);
}

/** The left upper corner of the picture on the pane, and its scale. */
export function placed(camera: Camera, picture: Size, pane: Size): { left: number; top: number; scale: number } {
  const scale = scaleOf(camera, picture, pane);
  return {
    left: pane.width / 2 - camera.u * picture.width * scale,
    top: pane.height / 2 - camera.v * picture.height * scale,
    scale,
  };
}

/** The part of the picture under a point of the pane; outside 0 to 1 there is no picture. */
export function partAt(camera: Camera, picture: Size, pane: Size, px: number, py: number): { u: number; v: number } {
  const { left, top, scale } = placed(camera, picture, pane);
  return { u: (px - left) / (picture.width * scale), v: (py - top) / (picture.height * scale) };
}

/** The pixel at a part of a picture, or null beside it. */
export function pixelAt(part: { u: number; v: number }, picture: Size): { x: number; y: number } | null {
  const x = Math.floor(part.u * picture.width);
  const y = Math.floor(part.v * picture.height);
  return x >= 0 && y >= 0 && x < picture.width && y < picture.height ? { x, y } : null;
}

function held(camera: Camera, picture: Size, pane: Size): Camera {
  const fit = scaleOf(FIT, picture, pane);
  const zoom = Math.max(1, Math.min(camera.zoom, Math.max(1, LARGEST_PX / fit)));
  const half = 0.5 / zoom;
  const inside = (part: number) => (half >= 0.5 ? 0.5 : Math.max(half * 0.5, Math.min(1 - half * 0.5, part)));
  return { u: inside(camera.u), v: inside(camera.v), zoom };
}

/** Larger or smaller by a factor, with the point under the pointer staying there. */
export function zoomAt(camera: Camera, picture: Size, pane: Size, px: number, py: number, factor: number): Camera {
  const fixed = partAt(camera, picture, pane, px, py);
  const fit = scaleOf(FIT, picture, pane);
  const zoom = Math.max(1, Math.min(camera.zoom * factor, Math.max(1, LARGEST_PX / fit)));
  const now = partAt({ ...camera, zoom }, picture, pane, px, py);
  return held({ u: camera.u + fixed.u - now.u, v: camera.v + fixed.v - now.v, zoom }, picture, pane);
}

/** Moved by pixels of the screen. */
export function panned(camera: Camera, picture: Size, pane: Size, dx: number, dy: number): Camera {
  const scale = scaleOf(camera, picture, pane);
  return held(
    { ...camera, u: camera.u - dx / (picture.width * scale), v: camera.v - dy / (picture.height * scale) },
    picture,
    pane,
  );
}
