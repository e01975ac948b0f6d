/** Mouse, wheel and keys on the call tree. */

import { nodeUnder } from "./picture";
import type { PythonState } from "./state";

const STILL = 4;
const MOVES: Record<string, "up" | "down" | "left" | "right"> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** Starts listening; returns how to stop. */
export function listen(stage: HTMLElement, state: PythonState): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const watcher = new ResizeObserver(
    () => (state.size.value = { width: stage.clientWidth, height: stage.clientHeight }),
  );
  watcher.observe(stage);
  const inside = (event: MouseEvent): [number, number] => {
    const around = stage.getBoundingClientRect();
    return [event.clientX - around.left, event.clientY - around.top];
  };
  stage.addEventListener(
    "wheel",
    (event) => turnWheel(event, inside(event)[0] / Math.max(1, stage.clientWidth), state),
    { passive: false, signal },
  );
  let pressed: PointerEvent | null = null;
  let moved = 0;
  stage.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0) return;
      pressed = event;
      moved = 0;
    },
    { signal },
  ); // prettier-ignore
  stage.addEventListener(
    "pointermove",
    (event) => {
      if (!pressed) {
        const [x, y] = inside(event);
        const node = nodeUnder(state, x, y);
        state.hovered.value = node < 0 ? null : { node, x, y };
        return;
      }
      const [dx, dy] = [event.clientX - pressed.clientX, event.clientY - pressed.clientY];
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved < STILL) return;
      stage.setPointerCapture(event.pointerId);
      state.hovered.value = null;
      state.panBy(-dx / Math.max(1, stage.clientWidth));
      state.scrollTo(state.scroll.peek() + (state.flame.peek() ? dy : -dy));
      pressed = event;
    },
    { signal },
  ); // prettier-ignore
  stage.addEventListener(
    "pointerup",
    (event) => {
      const still = pressed !== null && moved < STILL;
      pressed = null;
      if (!still) return;
      const node = nodeUnder(state, ...inside(event));
      if (node >= 0) state.zoom(node);
    },
    { signal },
  ); // prettier-ignore
  stage.addEventListener("pointercancel", () => (pressed = null), { signal });
  stage.addEventListener("pointerleave", () => (state.hovered.value = null), { signal });
  stage.addEventListener("keydown", (event) => pressKey(event, state), { signal });
  return () => {
    watcher.disconnect();
    stop.abort();
  };
}

/** The wheel goes through the depths; with Ctrl (and so with a pinch) it zooms, with Shift it moves sideways. */
function turnWheel(event: WheelEvent, at: number, state: PythonState): void {
  event.preventDefault();
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
  if (event.ctrlKey || event.metaKey) state.zoomBy(Math.exp(-dy * 0.005), at);
  else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) state.panBy((dx || dy) / 800);
  else state.scrollTo(state.scroll.peek() + (state.flame.peek() ? -dy : dy));
}

function pressKey(event: KeyboardEvent, state: PythonState): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const move = MOVES[event.key];
  const tree = state.tree.peek();
  const node = state.chosen.peek();
  if (move)
    state.move(state.flame.peek() && move === "up" ? "down" : state.flame.peek() && move === "down" ? "up" : move);
  else if (event.key === "Enter" && node >= 0) state.zoom(node);
  else if (event.key === "Backspace" || event.key === "Escape")
    state.zoom(state.root.peek() >= 0 ? (tree?.parent[state.root.peek()] ?? -1) : -1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
