/** The whole drawing in a corner, with the part that the screen shows; drag to move there. */

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { sharpContext } from "../charts/inks";
import { holds, seen } from "../lib/graph-camera";
import type { Scene } from "../lib/graph-scene";
import type { GraphState } from "./state";

const WIDTH = 168;
const HEIGHT = 120;
const EDGE = 6;

export function Minimap({ state }: { state: GraphState }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useSignalEffect(() => {
    const scene = state.scene.value;
    const view = seen(state.camera.value, state.screen.value);
    const element = canvas.current;
    if (!scene || !element) return;
    // All of it is on the screen: a map would only hide some of it.
    element.hidden = holds(view, { x: 0, y: 0, w: scene.width, h: scene.height });
    if (!element.hidden) draw(element, scene, view);
  });
  const jump = (event: PointerEvent) => {
    const scene = state.scene.peek();
    const element = canvas.current;
    if (!scene || !element || event.buttons === 0) return;
    const around = element.getBoundingClientRect();
    const { scale, left, top } = spot(scene);
    const [x, y] = [(event.clientX - around.left - left) / scale, (event.clientY - around.top - top) / scale];
    const camera = state.camera.peek();
    const screen = state.screen.peek();
    state.moveTo({ ...camera, left: screen.width / 2 - x * camera.scale, top: screen.height / 2 - y * camera.scale });
  };
  return (
    <canvas
      ref={canvas}
      class="graph-minimap"
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
      onPointerDown={(event) => (event.currentTarget.setPointerCapture(event.pointerId), jump(event))}
      onPointerMove={jump}
    />
  );
}

function spot(scene: Scene): { scale: number; left: number; top: number } {
  const scale = Math.min(
    (WIDTH - 2 * EDGE) / Math.max(1, scene.width),
    (HEIGHT - 2 * EDGE) / Math.max(1, scene.height),
  );
  return { scale, left: (WIDTH - scene.width * scale) / 2, top: (HEIGHT - scene.height * scale) / 2 };
}

function draw(canvas: HTMLCanvasElement, scene: Scene, view: { x: number; y: number; w: number; h: number }): void {
  const ctx = sharpContext(canvas, WIDTH, HEIGHT);
  if (!ctx) return;
  const style = getComputedStyle(canvas);
  const { scale, left, top } = spot(scene);
  for (const { x, y, w, h, open } of scene.items) {
    ctx.fillStyle = style.getPropertyValue(open ? "--map-open" : "--map-item");
    ctx.fillRect(left + x * scale, top + y * scale, Math.max(1, w * scale), Math.max(1, h * scale));
  }
  const x = Math.max(1, left + view.x * scale);
  const y = Math.max(1, top + view.y * scale);
  const w = Math.min(WIDTH - 1, left + (view.x + view.w) * scale) - x;
  const h = Math.min(HEIGHT - 1, top + (view.y + view.h) * scale) - y;
  ctx.strokeStyle = style.getPropertyValue("--accent");
  ctx.lineWidth = 1.5;
  ctx.strokeRect(x, y, Math.max(4, w), Math.max(4, h));
}
