/** Drag, pan, wheel and hover on a line panel, turned into ranges of x. */

import type { Range } from "../../lib/chart-line";
import type { Box } from "../../lib/chart-project";
import { dragRange, pan, scaleRange } from "../../lib/chart-zoom";

/** What gestures need of a plot. */
export interface PlotSurface {
  readonly box: Box;
  /** The x under a pixel of the host. */
  valueAt(px: number): number;
  /** Shows the box that is being dragged; null takes it away. */
  select(from: number, to: number | null): void;
}

export interface GestureTarget {
  plot(): PlotSurface | null;
  window(): Range;
  /** How far the data reaches; the window itself when that is not known. */
  limits(): Range;
  logX(): boolean;
  zoom(range: Range | null): void;
  hover(value: number | null, event: PointerEvent | null): void;
  click(): void;
}

interface Drag {
  from: number;
  last: number;
  panning: boolean;
  moved: boolean;
}

/** Listens on `host`; returns how to stop. */
export function attachGestures(host: HTMLElement, target: GestureTarget): () => void {
  let drag: Drag | null = null;
  let frame = 0;
  let latest: PointerEvent | null = null;

  const at = (event: MouseEvent): number => event.clientX - host.getBoundingClientRect().left;
  const inside = (px: number): boolean => {
    const box = target.plot()?.box;
    return box !== undefined && px >= box.left - 1 && px <= box.left + box.width + 1;
  };

  const move = (event: PointerEvent): void => {
    latest = event;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (latest) apply(latest);
    });
  };

  const apply = (event: PointerEvent): void => {
    const plot = target.plot();
    if (!plot) return;
    const px = at(event);
    if (drag) return dragTo(plot, px);
    target.hover(inside(px) ? plot.valueAt(px) : null, event);
  };

  const dragTo = (plot: PlotSurface, px: number): void => {
    if (!drag) return;
    drag.moved ||= Math.abs(px - drag.from) >= 4;
    if (drag.panning) {
      target.zoom(pan(target.window(), (drag.last - px) / plot.box.width, target.limits(), target.logX()));
      drag.last = px;
    } else if (drag.moved) plot.select(clampTo(plot, drag.from), clampTo(plot, px));
  };

  const down = (event: PointerEvent): void => {
    const px = at(event);
    if (event.button > 1 || !inside(px)) return;
    const panning = event.shiftKey || event.button === 1;
    if (event.button === 1) event.preventDefault();
    drag = { from: px, last: px, panning, moved: false };
    host.setPointerCapture(event.pointerId);
    if (panning) host.dataset.panning = "true";
  };

  const up = (event: PointerEvent): void => {
    const plot = target.plot();
    if (!drag || !plot) return;
    const { from, panning, moved } = drag;
    const px = at(event);
    drag = null;
    delete host.dataset.panning;
    plot.select(0, null);
    if (panning) return;
    if (!moved) {
      target.hover(plot.valueAt(px), event); // A tap has no hover before it.
      return target.click();
    }
    const range = dragRange(plot.valueAt(clampTo(plot, from)), plot.valueAt(clampTo(plot, px)), px - from);
    if (range) target.zoom(range);
  };

  const leave = (): void => {
    latest = null;
    if (!drag) target.hover(null, null);
  };

  const wheel = (event: WheelEvent): void => {
    const plot = target.plot();
    if (!plot || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.preventDefault();
    const amount = event.deltaY || event.deltaX;
    if (event.shiftKey && !event.ctrlKey)
      return target.zoom(pan(target.window(), amount / 1000, target.limits(), target.logX()));
    target.zoom(
      scaleRange(target.window(), Math.exp(amount / 400), plot.valueAt(at(event)), target.limits(), target.logX()),
    );
  };

  const reset = (): void => target.zoom(null);

  host.addEventListener("pointermove", move);
  host.addEventListener("pointerdown", down);
  host.addEventListener("pointerup", up);
  host.addEventListener("pointercancel", up);
  host.addEventListener("pointerleave", leave);
  host.addEventListener("wheel", wheel, { passive: false });
  host.addEventListener("dblclick", reset);
  return () => {
    cancelAnimationFrame(frame);
    host.removeEventListener("pointermove", move);
    host.removeEventListener("pointerdown", down);
    host.removeEventListener("pointerup", up);
    host.removeEventListener("pointercancel", up);
    host.removeEventListener("pointerleave", leave);
    host.removeEventListener("wheel", wheel);
    host.removeEventListener("dblclick", reset);
  };
}

function clampTo(plot: PlotSurface, px: number): number {
  const { left, width } = plot.box;
  return Math.min(left + width, Math.max(left, px));
}
