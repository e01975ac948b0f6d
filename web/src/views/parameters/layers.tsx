/** Two canvases, one over the other: what changes seldom below, what follows the mouse above. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Inks, readInks, sharpContext } from "../../charts/inks";
import { isDark } from "../../theme";
import { useSize } from "../charts/visible";

export interface Size {
  width: number;
  height: number;
}

export interface Spot {
  x: number;
  y: number;
  event: PointerEvent;
}

export interface LayersProps {
  label: string;
  cursor: string;
  below(ctx: CanvasRenderingContext2D, size: Size, inks: Inks): void;
  above(ctx: CanvasRenderingContext2D, size: Size, inks: Inks): void;
  onSize?(size: Size): void;
  onDown?(spot: Spot): void;
  onMove?(spot: Spot): void;
  onUp?(spot: Spot): void;
  onLeave?(): void;
  onDouble?(spot: { x: number; y: number }): void;
  children?: ComponentChildren;
}

/** Draws again when a drawing function changes, with the size, and with the theme. */
export function Layers({
  label,
  cursor,
  below,
  above,
  onSize,
  onDown,
  onMove,
  onUp,
  onLeave,
  onDouble,
  children,
}: LayersProps) {
  const place = useRef<HTMLDivElement>(null);
  const lower = useRef<HTMLCanvasElement>(null);
  const upper = useRef<HTMLCanvasElement>(null);
  const size = useSize(place);
  const dark = isDark.value;
  useEffect(() => {
    if (size) onSize?.(size);
  }, [size]);
  useEffect(() => paint(lower.current, size, below), [size, below, dark]);
  useEffect(() => paint(upper.current, size, above), [size, above, dark]);
  const spot = (event: PointerEvent): Spot => ({ ...inside(place.current, event), event });
  return (
    <div ref={place} class="fill anchor layers" style={{ cursor }}>
      <canvas ref={lower} class="cover" aria-hidden="true" />
      <canvas
        class="cover"
        ref={upper}
        role="img"
        aria-label={label}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          onDown?.(spot(event));
        }}
        onPointerMove={(event) => onMove?.(spot(event))}
        onPointerUp={(event) => event.button === 0 && onUp?.(spot(event))}
        onPointerLeave={onLeave}
        onDblClick={(event) => onDouble?.(inside(place.current, event))}
      />
      {children}
    </div>
  );
}

function inside(place: HTMLElement | null, event: MouseEvent): { x: number; y: number } {
  const around = place?.getBoundingClientRect();
  return { x: event.clientX - (around?.left ?? 0), y: event.clientY - (around?.top ?? 0) };
}

function paint(canvas: HTMLCanvasElement | null, size: Size | null, draw: LayersProps["below"]): void {
  if (!canvas || !size) return;
  const ctx = sharpContext(canvas, size.width, size.height);
  if (ctx) draw(ctx, size, readInks());
}
