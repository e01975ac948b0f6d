/**
 * Asks for the lines of the first screen as soon as it is known which panels there are, before the panels are built:
 * the answer comes while they are. A wrong guess costs one request and shows nothing wrong, because panels ask for what
 * they need anyway.
 */

import type { Need } from "../../lib/chart-plan";
import { columnsFor } from "../../lib/workspace";
import { columnsThatFit } from "../workspace/space";
import type { ChartScope } from "./scope";
import { HEIGHTS, WIDTHS } from "./settings";
import { viewOf } from "./view-of";
import { MARGIN_PX } from "./visible";

const GAP_PX = 12;
const SIDES_PX = 2 * 16 + 10;
const HEADING_PX = 40;

/** How many panels of the usual width stand side by side in a room. */
export const columnsIn = (room: number, panel: number): number =>
  Math.max(1, Math.floor((room + GAP_PX) / (panel + GAP_PX)));

export function foresee(scope: ChartScope, place: HTMLElement | null): void {
  const { settings } = scope;
  if (!place || settings.by.peek().length > 0) return;
  const room = place.clientWidth - SIDES_PX;
  columnsThatFit.value = columnsIn(room, WIDTHS[settings.size.peek()]);
  scope.store.foresee(firstScreen(scope, room, place.clientHeight + MARGIN_PX));
}

function firstScreen(scope: ChartScope, room: number, height: number): Need[] {
  const { settings, drawn } = scope;
  const needs: Need[] = [];
  let top = 0;
  for (const section of scope.sectionList.peek()) {
    top += HEADING_PX;
    if (section.open === settings.flipped.peek().includes(section.name)) continue;
    const count = section.panels.length;
    const columns = settings.columns.peek() || columnsFor(new Array<number>(count).fill(1), columnsThatFit.peek());
    const width = (room - (columns - 1) * GAP_PX) / columns;
    for (const [at, info] of section.panels.entries()) {
      if (top + Math.floor(at / columns) * rowHeight(scope) > height) return needs;
      if (info.kind === "scalar") needs.push({ key: info.key, view: viewOf(scope, info, width), runs: drawn.peek() });
    }
    top += Math.ceil(count / columns) * rowHeight(scope);
  }
  return needs;
}

const rowHeight = ({ settings }: ChartScope): number => HEIGHTS[settings.size.peek()] + GAP_PX;
