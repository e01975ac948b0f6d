/** Mouse, wheel, fingers and keys on the drawing. */

import type { Item } from "../lib/graph-model";
import type { Move } from "../lib/graph-moves";
import type { GraphState } from "./state";

const MOVES: Record<string, Move> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
/** A press that moves less than this is a click. */
const STILL = 4;

/** Starts listening; returns how to stop. */
export function listenToStage(frame: HTMLElement, state: GraphState): () => void {
  const ends: (() => void)[] = [];
  const on = <K extends keyof HTMLElementEventMap>(type: K, act: (event: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions) => {
    frame.addEventListener(type, act, options);
    ends.push(() => frame.removeEventListener(type, act, options));
  };
  const watcher = new ResizeObserver(() => state.resize({ width: frame.clientWidth, height: frame.clientHeight }));
  watcher.observe(frame);
  state.resize({ width: frame.clientWidth, height: frame.clientHeight });
  on("wheel", (event) => turnWheel(event, frame, state), { passive: false });
  listenToPointers(frame, state, on);
  on("dblclick", (event) => {
    const item = itemAt(event.target);
    if (item !== null && !isControl(event.target)) state.toggle(item);
  });
  on("keydown", (event) => pressKey(event, state));
  return () => {
    watcher.disconnect();
    for (const end of ends) end();
  };
}

function itemAt(target: EventTarget | null): Item | null {
  const element = target instanceof Element ? target.closest("[data-item]") : null;
  return element ? Number(element.getAttribute("data-item")) : null;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("[data-toggle], [data-fold]") !== null;
}

/** The wheel zooms as on a map; with Shift, or with two fingers sideways, it pans. */
function turnWheel(event: WheelEvent, frame: HTMLElement, state: GraphState): void {
  event.preventDefault();
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
  if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) return state.panBy(-(dx || dy), dx ? -dy : 0);
  const around = frame.getBoundingClientRect();
  const speed = event.ctrlKey ? 0.01 : 0.0016;
  state.zoomBy(Math.exp(-dy * speed), event.clientX - around.left, event.clientY - around.top);
}

type On = <K extends keyof HTMLElementEventMap>(type: K, act: (event: HTMLElementEventMap[K]) => void) => void;

function listenToPointers(frame: HTMLElement, state: GraphState, on: On): void {
  const fingers = new Map<number, PointerEvent>();
  let moved = 0;
  on("pointerdown", (event) => {
    if (event.button > 1) return;
    fingers.set(event.pointerId, event);
    moved = 0;
  });
  on("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < STILL) return;
    if (!frame.hasPointerCapture(event.pointerId)) frame.setPointerCapture(event.pointerId);
    frame.toggleAttribute("data-dragging", true);
    if (fingers.size === 2) pinch(fingers, event, frame, state);
    else state.panBy(dx, dy);
    fingers.set(event.pointerId, event);
  });
  const lift = (event: PointerEvent) => {
    const pressed = fingers.delete(event.pointerId);
    frame.removeAttribute("data-dragging");
    if (pressed && moved < STILL && event.type === "pointerup" && event.button === 0) click(event, state);
  };
  on("pointerup", lift);
  on("pointercancel", lift);
}

function pinch(fingers: ReadonlyMap<number, PointerEvent>, event: PointerEvent, frame: HTMLElement, state: GraphState): void {
  const before = fingers.get(event.pointerId);
  const still = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
  if (!before || !still) return;
  const distance = (one: PointerEvent) => Math.hypot(one.clientX - still.clientX, one.clientY - still.clientY);
  const around = frame.getBoundingClientRect();
  state.zoomBy(distance(event) / Math.max(1, distance(before)), still.clientX - around.left, still.clientY - around.top);
}

function click(event: PointerEvent, state: GraphState): void {
  const item = itemAt(event.target);
  if (item !== null && event.target instanceof Element) {
    if (event.target.closest("[data-fold]")) return state.toggleFold(item);
    if (event.target.closest("[data-toggle]")) return (state.select(item), state.toggle(item));
  }
  state.select(item);
}

function pressKey(event: KeyboardEvent, state: GraphState): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const move = MOVES[event.key];
  const item = state.selected.peek();
  if (move) state.move(move);
  else if (event.key === "Enter" && item !== null) state.toggle(item);
  else if (event.key === "Backspace" && item !== null) goOut(state, item);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** To the box around, which is closed again. */
function goOut(state: GraphState, item: Item): void {
  const around = state.shown.peek().parent.get(item);
  if (around === undefined || around === state.model.root) return state.select(null);
  state.select(around);
  state.toggle(around, false);
}
