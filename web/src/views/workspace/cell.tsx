/** The place of a panel in a grid: its size, its handles, and the keys that move and size it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { HEIGHT, nudgePanel, type Size } from "../../lib/workspace";
import { attachDrag, type Grip } from "./drag";
import { ResizeHandle } from "./resize-handle";
import { change } from "./space";

export interface CellProps {
  size: Size;
  columns: number;
  grip: Grip;
  onSize(size: Size): void;
  onRemove(): void;
  children: ComponentChildren;
}

export function Cell({ size, columns, grip, onSize, onRemove, children }: CellProps) {
  const place = useRef<HTMLDivElement>(null);
  const span = Math.min(columns, size.w ?? 1);
  const held = useRef(grip);
  held.current = grip;
  useEffect(() => (place.current ? attachDrag(place.current, () => held.current) : undefined), []);
  const own = typeof grip.panel === "string" ? grip.panel : undefined;

  const onKey = (event: KeyboardEvent): void => {
    const does = (event.target as HTMLElement).matches(".panel")
      ? cellKeys(event, own, size, span, place.current, onSize, onRemove)
      : null;
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  };
  const style = { gridColumn: `span ${span}`, ...(size.h ? { "--panel-height": `${size.h}px` } : {}) };
  return (
    <div
      ref={place}
      class="anchor shrinks panel-cell"
      data-own-cell={own}
      data-tall={size.h ? "" : undefined}
      style={style}
      onKeyDownCapture={onKey}
    >
      {children}
      <ResizeHandle span={span} columns={columns} onSize={onSize} />
    </div>
  );
}

type Act = () => void;
const WAYS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const;

/** Alt moves, Shift sizes, Delete takes away. */
function cellKeys(
  event: KeyboardEvent,
  own: string | undefined,
  size: Size,
  span: number,
  cell: HTMLElement | null,
  onSize: CellProps["onSize"],
  onRemove: Act,
): Act | null {
  if (event.ctrlKey || event.metaKey) return null;
  if (event.key === "Delete" && !event.altKey && !event.shiftKey) return onRemove;
  const way = WAYS[event.key as keyof typeof WAYS];
  if (!way) return null;
  if (event.altKey && own) return () => refocused(own, () => change((now) => nudgePanel(now, own, way)));
  if (!event.shiftKey) return null;
  const height = size.h ?? cell?.offsetHeight ?? 240;
  if (way === "left") return () => onSize({ w: span - 1 });
  if (way === "right") return () => onSize({ w: span + 1 });
  return () => onSize({ h: height + (way === "up" ? -2 : 2) * HEIGHT.step });
}

/** A panel that went into another section is built again there; the keyboard stays with it. */
function refocused(own: string, act: Act): void {
  act();
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-own-cell="${CSS.escape(own)}"] > .panel`)?.focus(),
  );
}
