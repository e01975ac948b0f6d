/** Mouse, wheel, fingers and keys on the timeline. */

import { hitAt, depthAt, type Hit } from "../../../lib/timeline-hit";
import { levelOf } from "../../../lib/timeline-camera";
import { rowAt } from "../../../lib/timeline-rows";
import type { TimelineState } from "./state";

/** A press that moves less than this is a click. */
const STILL = 4;
/** How near the pointer must be to a block, in pixels. */
const NEAR = 3;
const ZOOM_PER_S = 6;
const PAN_PER_S = 1.1;

/** The block at a place of the stage. */
function hitUnder(state: TimelineState, x: number, y: number): Hit | null {
  const rows = state.rows.peek();
  const down = y + state.scroll.peek();
  const row = rows[rowAt(rows, down)];
  const source = row ? state.sources.peek()[row.source] : undefined;
  if (row?.kind !== "lane" || !source || down < row.top || down >= row.top + row.height) return null;
  const { begin, scale } = state.camera.peek();
  const time = begin + x * scale - source.offset;
  return hitAt(
    source.store,
    row,
    depthAt(row, down),
    time,
    levelOf(scale, devicePixelRatio || 1),
    source.page.tile,
    NEAR * scale,
  );
}

/** Starts listening; returns how to stop. `ruler` selects a stretch of time wherever it is dragged. */
export function listen(stage: HTMLElement, ruler: HTMLElement, names: HTMLElement, state: TimelineState): () => void {
  const ends: (() => void)[] = [];
  const on = <K extends keyof HTMLElementEventMap>(
    element: HTMLElement,
    type: K,
    act: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
  ) => {
    element.addEventListener(type, act, options);
    ends.push(() => element.removeEventListener(type, act, options));
  };
  const watcher = new ResizeObserver(() => state.resize(stage.clientWidth, stage.clientHeight));
  watcher.observe(stage);
  for (const element of [stage, ruler])
    on(element, "wheel", (event) => turnWheel(event, stage, state), { passive: false });
  on(names, "wheel", (event) => (event.preventDefault(), state.panBy(0, -lines(event, event.deltaY))), {
    passive: false,
  });
  listenToPointers(stage, state, false, on);
  listenToPointers(ruler, state, true, on);
  on(stage, "pointerleave", () => ((state.hovered.value = null), (state.crosshair.value = null)));
  on(stage, "dblclick", (event) => {
    const hit = hitUnder(state, ...inside(event, stage));
    const source = hit ? state.sources.peek()[hit.row.source] : undefined;
    if (!hit || !source) return;
    const room = Math.max(hit.dur * 1.1, 100);
    state.flyTo({ begin: source.offset + hit.start + hit.dur / 2 - room / 2, scale: room / state.size.peek().width });
  });
  ends.push(holdKeys(stage, state));
  return () => {
    watcher.disconnect();
    for (const end of ends) end();
  };
}

function inside(event: MouseEvent, element: HTMLElement): [number, number] {
  const around = element.getBoundingClientRect();
  return [event.clientX - around.left, event.clientY - around.top];
}

function lines(event: WheelEvent, delta: number): number {
  return delta * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1);
}

/**
 * The wheel zooms as on a map; with Shift, or with two fingers sideways, it pans; with Alt it goes through the lanes.
 */
function turnWheel(event: WheelEvent, stage: HTMLElement, state: TimelineState): void {
  event.preventDefault();
  const [dx, dy] = [lines(event, event.deltaX), lines(event, event.deltaY)];
  if (event.altKey) return state.panBy(0, -dy);
  if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) return state.panBy(-(dx || dy));
  state.zoomBy(Math.exp(-dy * (event.ctrlKey ? 0.01 : 0.0018)), inside(event, stage)[0]);
}

type On = <K extends keyof HTMLElementEventMap>(
  element: HTMLElement,
  type: K,
  act: (event: HTMLElementEventMap[K]) => void,
) => void;

function listenToPointers(element: HTMLElement, state: TimelineState, selects: boolean, on: On): void {
  const fingers = new Map<number, PointerEvent>();
  let moved = 0;
  let from: number | null = null;
  on(element, "pointerdown", (event) => {
    if (event.button > 1) return;
    fingers.set(event.pointerId, event);
    moved = 0;
    const chooses = selects || event.shiftKey !== state.selecting.peek();
    from = event.button === 0 && chooses ? inside(event, element)[0] : null;
  });
  on(element, "pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    const [x, y] = inside(event, element);
    if (!before) return selects ? undefined : hover(state, x, y);
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < STILL) return;
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    state.hovered.value = null;
    if (fingers.size === 2) pinch(fingers, event, element, state);
    else if (from !== null) drawRange(state, from, x);
    else {
      element.toggleAttribute("data-dragging", true);
      state.panBy(dx, dy);
    }
    fingers.set(event.pointerId, event);
  });
  const lift = (event: PointerEvent) => {
    const pressed = fingers.delete(event.pointerId);
    element.removeAttribute("data-dragging");
    if (!pressed || event.type !== "pointerup" || event.button !== 0) return;
    if (moved < STILL) click(state, selects, ...inside(event, element));
    else if (from !== null) void state.select(state.range.peek());
  };
  on(element, "pointerup", lift);
  on(element, "pointercancel", lift);
}

function hover(state: TimelineState, x: number, y: number): void {
  const hit = hitUnder(state, x, y);
  state.hovered.value = hit ? { hit, x, y } : null;
  state.crosshair.value = x;
}

function drawRange(state: TimelineState, from: number, to: number): void {
  const { begin, scale } = state.camera.peek();
  const width = state.size.peek().width;
  const at = (x: number) => begin + Math.max(0, Math.min(width, x)) * scale;
  state.range.value = [at(Math.min(from, to)), at(Math.max(from, to))];
}

function click(state: TimelineState, onRuler: boolean, x: number, y: number): void {
  if (onRuler) return void state.select(null);
  const hit = hitUnder(state, x, y);
  if (hit) void state.choose(hit.row.source, hit.event);
  else state.unchoose();
}

function pinch(
  fingers: ReadonlyMap<number, PointerEvent>,
  event: PointerEvent,
  element: HTMLElement,
  state: TimelineState,
): void {
  const before = fingers.get(event.pointerId);
  const still = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
  if (!before || !still) return;
  const distance = (one: PointerEvent) => Math.abs(one.clientX - still.clientX);
  state.zoomBy(distance(event) / Math.max(1, distance(before)), inside(still, element)[0]);
  state.panBy(0, (event.clientY - before.clientY) / 2);
}

const HELD = new Set(["w", "a", "s", "d", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "+", "=", "-"]);

/** Keys that move as long as they are held, evenly, however often the keyboard repeats. */
function holdKeys(stage: HTMLElement, state: TimelineState): () => void {
  const down = new Map<string, boolean>();
  let frame = 0;
  let last = 0;
  const move = (now: number) => {
    const seconds = Math.min(0.05, (now - last) / 1000);
    last = now;
    for (const [key, fast] of down) glide(state, key, seconds * (fast ? 3 : 1));
    frame = down.size > 0 ? requestAnimationFrame(move) : 0;
  };
  const press = (event: KeyboardEvent) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!HELD.has(key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!down.has(key)) glide(state, key, 1 / 60);
    down.set(key, event.shiftKey);
    if (!frame) {
      last = performance.now();
      frame = requestAnimationFrame(move);
    }
  };
  const lift = (event: KeyboardEvent) => void down.delete(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  const stop = () => down.clear();
  stage.addEventListener("keydown", press);
  addEventListener("keyup", lift);
  addEventListener("blur", stop);
  stage.addEventListener("blur", stop);
  return () => {
    cancelAnimationFrame(frame);
    stage.removeEventListener("keydown", press);
    removeEventListener("keyup", lift);
    removeEventListener("blur", stop);
    stage.removeEventListener("blur", stop);
  };
}

function glide(state: TimelineState, key: string, seconds: number): void {
  const { width } = state.size.peek();
  const at = state.crosshair.peek() ?? width / 2;
  if (key === "w" || key === "+" || key === "=") state.zoomBy(Math.exp(Math.log(ZOOM_PER_S) * seconds), at);
  else if (key === "s" || key === "-") state.zoomBy(Math.exp(-Math.log(ZOOM_PER_S) * seconds), at);
  else if (key === "a" || key === "ArrowLeft") state.panBy(width * PAN_PER_S * seconds);
  else if (key === "d" || key === "ArrowRight") state.panBy(-width * PAN_PER_S * seconds);
  else state.panBy(0, (key === "ArrowUp" ? 700 : -700) * seconds);
}
