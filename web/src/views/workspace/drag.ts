/**
 * A panel taken by its heading and dropped somewhere else: with a mouse or a pen at once, with a finger after a short
 * rest.
 */

import type { PanelInfo } from "../../lib/schema";
import { addPanel, addSection, movePanel, type Spot } from "../../lib/workspace";
import { releaseHover } from "../charts/hover";
import { change, dragged, metricPanel, space } from "./space";

const BEGIN_PX = 6;
const EDGE_PX = 48;
const REST_MS = 350;
/** The place for a section that is not there yet. */
export const NEW_SECTION = "new";

export interface Grip {
  title: string;
  panel: string | PanelInfo;
}

/** Listens for a drag that begins on the heading of `cell`; returns how to stop. */
export function attachDrag(cell: HTMLElement, grip: () => Grip): () => void {
  const down = (event: PointerEvent): void => {
    const on = event.target as HTMLElement;
    if (event.button !== 0 || !on.closest(".panel-head") || on.closest("button, a, input, select")) return;
    if (event.pointerType === "touch") afterRest(event, () => follow(event, cell, grip(), true));
    else follow(event, cell, grip());
  };
  // Only a listener that was there before the finger can keep the page from scrolling under it.
  const hold = (event: Event): void => {
    if (dragged.peek() && event.cancelable) event.preventDefault();
  };
  cell.addEventListener("pointerdown", down);
  cell.addEventListener("touchmove", hold, { passive: false });
  cell.addEventListener("contextmenu", hold);
  return () => {
    cell.removeEventListener("pointerdown", down);
    cell.removeEventListener("touchmove", hold);
    cell.removeEventListener("contextmenu", hold);
  };
}

/** Once a finger has rested on its place: one that moves before that scrolls the page. */
function afterRest(begin: PointerEvent, take: () => void): void {
  const stop = (): void => {
    clearTimeout(timer);
    removeEventListener("pointermove", move, true);
    removeEventListener("pointerup", stop, true);
    removeEventListener("pointercancel", stop, true);
  };
  const move = (event: PointerEvent): void => {
    if (Math.hypot(event.clientX - begin.clientX, event.clientY - begin.clientY) >= BEGIN_PX) stop();
  };
  const timer = setTimeout(() => (stop(), take()), REST_MS);
  addEventListener("pointermove", move, true);
  addEventListener("pointerup", stop, true);
  addEventListener("pointercancel", stop, true);
}

function follow(begin: PointerEvent, cell: HTMLElement, grip: Grip, atOnce = false): void {
  let spot: Spot | null = null;
  const take = (x: number, y: number): void => {
    if (!dragged.peek()) releaseHover(); // values under the pointer are not what is looked at now
    cell.dataset.moving = "";
    dragged.value = { ...grip, x, y };
  };
  const move = (event: PointerEvent): void => {
    if (!dragged.peek() && Math.hypot(event.clientX - begin.clientX, event.clientY - begin.clientY) < BEGIN_PX) return;
    event.preventDefault();
    take(event.clientX, event.clientY);
    scrollNearEdge(cell, event.clientY);
    spot = mark(event.clientX, event.clientY);
  };
  const end = (drop: boolean): void => {
    removeEventListener("pointermove", move, true);
    removeEventListener("pointerup", up, true);
    removeEventListener("pointercancel", cancel, true);
    removeEventListener("keydown", onEscape, true);
    delete cell.dataset.moving;
    unmark();
    const was = dragged.peek();
    dragged.value = null;
    if (was && drop && spot) put(grip.panel, spot);
  };
  const up = (): void => end(true);
  const cancel = (): void => end(false);
  const onEscape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    end(false);
  };
  addEventListener("pointermove", move, true);
  addEventListener("pointerup", up, true);
  addEventListener("pointercancel", cancel, true);
  addEventListener("keydown", onEscape, true);
  if (atOnce) take(begin.clientX, begin.clientY);
}

export function put(panel: string | PanelInfo, spot: Spot): void {
  change((now) => {
    const made = spot.section === NEW_SECTION ? addSection(now, "My panels") : now;
    const section = spot.section === NEW_SECTION ? (made.sections.at(-1)?.id ?? "") : spot.section;
    const place = { section, before: spot.before };
    return typeof panel === "string"
      ? movePanel(made, panel, place)
      : addPanel(made, { ...metricPanel(panel), ...space.peek().sizes[panel.key] }, place);
  });
}

/** Where a drop would go, shown by a mark; null where it would do nothing. */
function mark(x: number, y: number): Spot | null {
  unmark();
  const under = document.elementFromPoint(x, y);
  const home = under?.closest<HTMLElement>("[data-own-section]");
  const section = home?.dataset.ownSection;
  if (!home || section === undefined) return null;
  const over = under?.closest<HTMLElement>("[data-own-cell]");
  if (!over) {
    home.dataset.drop = "";
    return { section, before: null };
  }
  const { left, width } = over.getBoundingClientRect();
  const first = x < left + width / 2;
  over.dataset.drop = first ? "before" : "after";
  const next = over.nextElementSibling as HTMLElement | null;
  return { section, before: (first ? over.dataset.ownCell : next?.dataset.ownCell) ?? null };
}

function unmark(): void {
  for (const one of document.querySelectorAll<HTMLElement>("[data-drop]")) delete one.dataset.drop;
}

function scrollNearEdge(cell: HTMLElement, y: number): void {
  const scroller = cell.closest<HTMLElement>(".charts-scroll");
  if (!scroller) return;
  const { top, bottom } = scroller.getBoundingClientRect();
  if (y < top + EDGE_PX) scroller.scrollTop -= EDGE_PX / 3;
  else if (y > bottom - EDGE_PX) scroller.scrollTop += EDGE_PX / 3;
}
