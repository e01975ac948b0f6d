/** Where the mouse is, in words of the data: shared by all panels so that their crosshairs move together. */

import { signal } from "@preact/signals";
import type { HoverRow } from "../../lib/chart-hover";
import { hovered } from "../../state";
import { dragged } from "../workspace/space";

export interface Hover {
  /** The x-axis it is on; panels over another one do not follow. */
  axis: string;
  value: number;
  /** The panel the mouse is in. */
  source: string;
  clientX: number;
  clientY: number;
  /** Pixels below the panel's top, to find the nearest line. */
  y: number;
}

export interface Tip {
  /** The panel it is about. */
  source: string;
  rows: readonly HoverRow[];
  nearest: number;
  axis: string;
  value: number;
  clientX: number;
  clientY: number;
}

export const hover = signal<Hover | null>(null);
export const tip = signal<Tip | null>(null);
/** A click holds the tooltip and the crosshairs where they are. */
export const held = signal(false);

export function moveHover(next: Hover | null): void {
  if (held.peek() || (next && dragged.peek())) return;
  hover.value = next;
  if (!next) {
    tip.value = null;
    hovered.value = null;
  }
}

export function releaseHover(): void {
  held.value = false;
  moveHover(null);
}
