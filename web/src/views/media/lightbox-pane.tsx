/** One pane of the lightbox: draws, and turns wheel, drag and pinch into moves of the camera that all panes share. */

import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { readInks, sharpContext } from "../../charts/inks";
import { drawLook } from "../../charts/draw-look";
import { type Camera, FIT, panned, partAt, type Size, zoomAt } from "../../lib/look-camera";
import { isDark } from "../../theme";
import { useSize } from "../charts/visible";
import type { Shown } from "./lightbox-pictures";

export interface PaneProps {
  label: string;
  first: Shown | { canvas: HTMLCanvasElement | null; fault: string | null };
  /** With it, a wipe: the second picture is right of the line. */
  second?: Shown;
  line?: Signal<number>;
  camera: Signal<Camera>;
  spot: Signal<{ u: number; v: number } | null>;
}

export function Pane({ label, first, second, line, camera, spot }: PaneProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(place);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const image = first.canvas ?? second?.canvas ?? null;
  const now = camera.value;
  const at = spot.value;
  const cut = line?.value ?? 1;
  useEffect(() => {
    if (!size || !canvas.current) return;
    const ctx = sharpContext(canvas.current, size.width, size.height);
    if (!ctx) return;
    const options = { camera: now, spot: at, accent: readInks().accent };
    if (!second) return void (first.canvas && drawLook(ctx, first.canvas, size, options));
    if (first.canvas) drawLook(ctx, first.canvas, size, { ...options, to: cut * size.width });
    if (second.canvas) drawLook(ctx, second.canvas, size, { ...options, from: cut * size.width });
  }, [size, first.canvas, second?.canvas, now, at, cut, isDark.value]);
  useWheel(place, size, image, camera);
  const point = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const around = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - around.left, y: event.clientY - around.top };
  };
  const move = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    if (!size || !image) return;
    const here = point(event);
    const known = pointers.current;
    const before = known.get(event.pointerId);
    if (before) {
      const other = [...known].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const factor = distance(here, other) / Math.max(1, distance(before, other));
        camera.value = zoomAt(camera.peek(), image, size, (here.x + other.x) / 2, (here.y + other.y) / 2, factor);
      } else camera.value = panned(camera.peek(), image, size, here.x - before.x, here.y - before.y);
      known.set(event.pointerId, here);
    }
    const part = partAt(camera.peek(), image, size, here.x, here.y);
    spot.value = part.u >= 0 && part.v >= 0 && part.u < 1 && part.v < 1 ? part : null;
  };
  return (
    <div
      ref={place}
      class="fill-down anchor clipped look-pane"
      role="img"
      aria-label={label}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        pointers.current.set(event.pointerId, point(event));
      }}
      onPointerMove={move}
      onPointerUp={(event) => pointers.current.delete(event.pointerId)}
      onPointerCancel={(event) => pointers.current.delete(event.pointerId)}
      onPointerLeave={() => (spot.value = null)}
      onDblClick={() => (camera.value = FIT)}
    >
      <canvas ref={canvas} class="cover" />
      {(first.fault ?? second?.fault) ? <p class="look-fault">{first.fault ?? second?.fault}</p> : null}
      {second && line && size ? <WipeLine line={line} width={size.width} /> : null}
    </div>
  );
}

const distance = (a: { x: number; y: number }, b: { x: number; y: number }): number => Math.hypot(a.x - b.x, a.y - b.y);

/** Preact's wheel listener is passive; the page would scroll. */
function useWheel(
  place: { current: HTMLElement | null },
  size: Size | null,
  image: Size | null,
  camera: Signal<Camera>,
): void {
  useEffect(() => {
    const element = place.current;
    if (!element || !size || !image) return;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const around = element.getBoundingClientRect();
      const factor = 2 ** (-event.deltaY / (event.ctrlKey ? 60 : 240));
      camera.value = zoomAt(
        camera.peek(),
        image,
        size,
        event.clientX - around.left,
        event.clientY - around.top,
        factor,
      );
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [size, image]);
}

function WipeLine({ line, width }: { line: Signal<number>; width: number }) {
  const drag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    event.stopPropagation();
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const around = (event.currentTarget.parentElement as HTMLElement).getBoundingClientRect();
    line.value = Math.max(0, Math.min(1, (event.clientX - around.left) / width));
  };
  return (
    <div
      class="wipe-line"
      role="slider"
      tabIndex={0}
      aria-label="Divider between the two images"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(line.value * 100)}
      style={{ left: `${line.value * 100}%` }}
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onKeyDown={(event) => {
        const step = event.key === "ArrowLeft" ? -0.02 : event.key === "ArrowRight" ? 0.02 : 0;
        if (!step) return;
        event.preventDefault();
        event.stopPropagation();
        line.value = Math.max(0, Math.min(1, line.value + step));
      }}
    >
      <span />
    </div>
  );
}
