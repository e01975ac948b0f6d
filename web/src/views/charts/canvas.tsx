/** A canvas that fills its place, is drawn again when its data, size or the theme changes, and tells of the pointer. */

import { useEffect, useRef } from "preact/hooks";
import { type Inks, readInks, sharpContext } from "../../charts/inks";
import { type Spoken, SpokenTable } from "../../components/spoken-table";
import { isDark } from "../../theme";
import { useSize } from "./visible";

export interface Size {
  width: number;
  height: number;
}

export interface CanvasProps {
  label: string;
  draw(ctx: CanvasRenderingContext2D, size: Size, inks: Inks): void;
  onPoint?(px: number, py: number, size: Size): void;
  onLeave?(): void;
  /** A click, where there is something to pick. */
  onPick?(px: number, py: number, size: Size): void;
  /** The picture as a table, for those who cannot see it. */
  spoken?: Spoken;
}

export function Canvas({ label, draw, onPoint, onLeave, onPick, spoken }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(place);
  const dark = isDark.value;
  useEffect(() => {
    if (!size || !canvas.current) return;
    const ctx = sharpContext(canvas.current, size.width, size.height);
    if (ctx) draw(ctx, size, readInks());
  }, [size, draw, dark]);
  return (
    <>
      <div
        ref={place}
        class="fill-down anchor clipped canvas"
        role="img"
        aria-label={label}
        onPointerMove={(event) => {
          if (!size) return;
          const around = event.currentTarget.getBoundingClientRect();
          onPoint?.(event.clientX - around.left, event.clientY - around.top, size);
        }}
        onPointerLeave={onLeave}
        onClick={(event) => {
          if (!size) return;
          const around = event.currentTarget.getBoundingClientRect();
          onPick?.(event.clientX - around.left, event.clientY - around.top, size);
        }}
      >
        <canvas ref={canvas} class="cover" />
      </div>
      {spoken ? <SpokenTable {...spoken} /> : null}
    </>
  );
}
