/** The corner of a panel: dragged, it makes the panel wider by columns and taller by pixels. */

import type { Size } from "../../lib/workspace";

export interface ResizeHandleProps {
  /** The columns it takes now. */
  span: number;
  columns: number;
  onSize(size: Size): void;
}

export function ResizeHandle({ span, columns, onSize }: ResizeHandleProps) {
  const down = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const handle = event.currentTarget;
    const cell = handle.parentElement;
    if (event.button !== 0 || !cell) return;
    event.preventDefault();
    event.stopPropagation();
    const from = cell.getBoundingClientRect();
    const column = (from.width + 12) / span;
    handle.setPointerCapture(event.pointerId);
    let last = "";
    const move = (now: PointerEvent): void => {
      const w = Math.min(columns, Math.max(1, Math.round((now.clientX - from.left + 12) / column)));
      const size = { w, h: now.clientY - from.top };
      if (JSON.stringify(size) === last) return;
      last = JSON.stringify(size);
      onSize(size);
    };
    const up = (): void => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", up);
      handle.removeEventListener("pointercancel", up);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", up);
    handle.addEventListener("pointercancel", up);
  };
  return (
    <span
      class="cell-corner"
      aria-hidden="true"
      title="Drag to resize (Shift + arrows on the panel)"
      onPointerDown={down}
    />
  );
}
