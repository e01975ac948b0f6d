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
  const on = <K extends keyof HTMLElementEventMap>(
    type: K,
    act: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
  ) => {
    frame.addEventListener(type, act, options);
    ends.push(() => frame.removeEventListener(type, act, options));
  };
  const watcher = new ResizeObserver(() => state.resize({ width: frame.clientWidth, height: frame.clientHeight }));
  watcher.observe(frame);
  state.resize({ width: frame.clientWidth, height: frame.clientHeight });
  on("wheel", (event) => turnWheel(event, frame, state), { passive: false });
  listenToPointers(frame, state, on);
  ends.push(listenToClicks(frame, state, on));
  on("keydown", (event) => pressKey(event, state));
  return () => {
    watcher.disconnect();
    for (const end of ends) end();
  };
}

/** What a press is on: known when the button goes down, because the drawing may move before it comes up. */
interface Press {
  item: Item | null;
  control: "toggle" | "fold" | null;
  x: number;
  y: number;
}

function pressOf(event: PointerEvent): Press {
  const target = event.target instanceof Element ? event.target : null;
  const element = target?.closest("[data-item]");
  const control = target?.closest("[data-fold]") ? "fold" : target?.closest("[data-toggle]") ? "toggle" : null;
  return {
    item: element ? Number(element.getAttribute("data-item")) : null,
    control,
    x: event.clientX,
    y: event.clientY,
  };
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
    frame.toggleAttribute("data-dragging", true);
    if (fingers.size === 2) pinch(fingers, event, frame, state);
    else state.panBy(dx, dy);
    fingers.set(event.pointerId, event);
  });
  const lift = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    frame.removeAttribute("data-dragging");
  };
  on("pointerup", lift);
  on("pointercancel", lift);
}

/**
 * The first click of a double click opens the details and so may move what lies under the pointer, or lie under it
 * itself. The second click is therefore one on the box of the first, wherever that is now.
 */
function listenToClicks(frame: HTMLElement, state: GraphState, on: On): () => void {
  let pressed: Press | null = null;
  let first: Press | null = null;
  on("pointerdown", (event) => {
    if (event.button > 1) return;
    pressed = pressOf(event);
    frame.setPointerCapture(event.pointerId); // it comes up here too, and so does the click
  });
  const near = (event: MouseEvent, press: Press) =>
    Math.abs(event.clientX - press.x) + Math.abs(event.clientY - press.y) < STILL;
  on("pointermove", (event) => {
    if (pressed && !near(event, pressed)) pressed = null; // a drag, wherever it ends
  });
  const clicked = (event: MouseEvent) => {
    const inside = event.target instanceof Node && frame.contains(event.target);
    const again = first !== null && event.detail % 2 === 0 && near(event, first);
    if (again && first && first.item !== null && first.control === null) {
      event.preventDefault();
      event.stopPropagation();
      state.toggle(first.item);
    } else if (inside && pressed) return act((first = pressed), state);
    first = null;
  };
  addEventListener("click", clicked, true);
  return () => removeEventListener("click", clicked, true);
}

function pinch(
  fingers: ReadonlyMap<number, PointerEvent>,
  event: PointerEvent,
  frame: HTMLElement,
  state: GraphState,
): void {
  const before = fingers.get(event.pointerId);
  const still = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
  if (!before || !still) return;
  const distance = (one: PointerEvent) => Math.hypot(one.clientX - still.clientX, one.clientY - still.clientY);
  const around = frame.getBoundingClientRect();
  state.zoomBy(
    distance(event) / Math.max(1, distance(before)),
    still.clientX - around.left,
    still.clientY - around.top,
  );
}

function act({ item, control }: Press, state: GraphState): void {
  if (item !== null && control === "fold") return state.toggleFold(item);
  state.select(item);
  if (item !== null && control === "toggle") state.toggle(item);
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
