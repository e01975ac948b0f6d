/** Words beside the mouse, over a picture. */

import type { ComponentChildren } from "preact";
import { createPortal } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface TipPlace {
  x: number;
  y: number;
}

export function tipAt(event: PointerEvent): TipPlace {
  return { x: event.clientX, y: event.clientY };
}

const GAP = 14;

export function Tip({ place, children }: { place: TipPlace; children?: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = place.x + GAP + width > innerWidth - 8 ? place.x - GAP - width : place.x + GAP;
    const top = Math.min(Math.max(8, place.y + GAP), innerHeight - height - 8);
    element.style.transform = `translate(${Math.max(8, Math.round(left))}px, ${Math.round(top)}px)`;
  });
  return createPortal(
    <div ref={box} class="floating tip profile-tip" role="tooltip">
      {children}
    </div>,
    document.body,
  );
}
