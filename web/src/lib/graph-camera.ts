/** Where the screen looks at the drawing: a point of the drawing is at `x * scale + left` on the screen. */

export interface Camera {
  left: number;
  top: number;
  scale: number;
}

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Size {
  width: number;
  height: number;
}

const MIN_SCALE = 0.02;
const MAX_SCALE = 4;
const MARGIN = 28;

/** Shows all of `rect`, in the middle, but never larger than `largest`. */
export function fit(rect: Rect, screen: Size, largest = 1.15): Camera {
  const wide = (screen.width - 2 * MARGIN) / Math.max(1, rect.w);
  const high = (screen.height - 2 * MARGIN) / Math.max(1, rect.h);
  const scale = clamp(Math.min(wide, high, largest));
  return {
    scale,
    left: screen.width / 2 - (rect.x + rect.w / 2) * scale,
    top: screen.height / 2 - (rect.y + rect.h / 2) * scale,
  };
}

/** Zooms so that the point under (x, y) of the screen stays where it is. */
export function zoomAt(camera: Camera, factor: number, x: number, y: number): Camera {
  const scale = clamp(camera.scale * factor);
  const ratio = scale / camera.scale;
  return { scale, left: x - (x - camera.left) * ratio, top: y - (y - camera.top) * ratio };
}

export function pan(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, left: camera.left + dx, top: camera.top + dy };
}

/** Moves, if `rect` is not well on the screen, and zooms, if it is too large or too small to read. */
export function reveal(camera: Camera, rect: Rect, screen: Size): Camera {
  const fitted = fit(rect, screen);
  const scale = Math.min(Math.max(camera.scale, READABLE), Math.max(fitted.scale, READABLE * 0.6));
  const now =
    scale === camera.scale ? camera : { ...zoomAt(camera, scale / camera.scale, screen.width / 2, screen.height / 2) };
  const left = rect.x * now.scale + now.left;
  const top = rect.y * now.scale + now.top;
  return {
    ...now,
    left: now.left + into(left, rect.w * now.scale, screen.width),
    top: now.top + into(top, rect.h * now.scale, screen.height),
  };
}

/** Moves sideways, just so far that `rect` ends on the screen; one that is too wide for it stays. */
export function intoWidth(camera: Camera, rect: Rect, screen: Size): Camera {
  const wide = rect.w * camera.scale;
  const over = rect.x * camera.scale + camera.left + wide + MARGIN - screen.width;
  return over <= 0 || wide > screen.width - 2 * MARGIN ? camera : pan(camera, -over, 0);
}

/** Below this scale, names cannot be read. */
const READABLE = 0.55;

/** Nothing to do while it is well inside; otherwise to the middle, or, if it is too long for that, its start first. */
function into(start: number, length: number, space: number): number {
  if (length > space - 2 * MARGIN) return MARGIN - start;
  const well = Math.min(MARGIN * 2, (space - length) / 2);
  if (start >= well && start + length <= space - well) return 0;
  return (space - length) / 2 - start;
}

/** The part of the drawing that the screen shows. */
export function seen(camera: Camera, screen: Size): Rect {
  return {
    x: -camera.left / camera.scale,
    y: -camera.top / camera.scale,
    w: screen.width / camera.scale,
    h: screen.height / camera.scale,
  };
}

export function meets(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

export function grown(rect: Rect, by: number): Rect {
  return { x: rect.x - rect.w * by, y: rect.y - rect.h * by, w: rect.w * (1 + 2 * by), h: rect.h * (1 + 2 * by) };
}

export function holds(outer: Rect, inner: Rect): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    outer.x + outer.w >= inner.x + inner.w &&
    outer.y + outer.h >= inner.y + inner.h
  );
}

function clamp(scale: number): number {
  return Math.max(MIN_SCALE, Math.min(MAX_SCALE, scale));
}
