/** What a drag or a click on an axis does to its brush. */

import { brushBoxes, type ParallelAxis, type ParallelLayout } from "../../charts/draw-parallel";
import { addRange, type Brush, NO_BRUSH } from "../../lib/param-brush";

export interface Grip {
  kind: "new" | "move" | "low" | "high" | "missing" | "broken" | "name";
  /** The range that was taken hold of. */
  range: number;
}

const EDGE_PX = 5;
const RAIL_PX = 10;

/** What lies under the mouse on an axis: an end or the middle of a range, a name, a rail, or nothing yet. */
export function gripAt(layout: ParallelLayout, axis: ParallelAxis, brush: Brush, y: number): Grip {
  if (layout.broken !== null && axis.column.broken > 0 && Math.abs(y - layout.broken) < RAIL_PX)
    return { kind: "broken", range: -1 };
  if (layout.missing !== null && axis.column.missing > 0 && Math.abs(y - layout.missing) < RAIL_PX)
    return { kind: "missing", range: -1 };
  const boxes = brushBoxes(layout, axis, { ...NO_BRUSH, ranges: brush.ranges });
  for (const [range, [from, to]] of boxes.entries()) {
    if (Math.abs(y - from) <= EDGE_PX) return { kind: "high", range };
    if (Math.abs(y - to) <= EDGE_PX) return { kind: "low", range };
    if (y > from && y < to) return { kind: "move", range };
  }
  return { kind: axis.column.kind === "number" ? "new" : "name", range: -1 };
}

const placeAt = (layout: ParallelLayout, y: number): number => (layout.bottom - y) / (layout.bottom - layout.top);
const held = (place: number): number => Math.max(0, Math.min(1, place));

/** The brush while the mouse is pulled from one height to another. */
export function pulled(
  layout: ParallelLayout,
  axis: ParallelAxis,
  before: Brush | undefined,
  grip: Grip,
  from: number,
  to: number,
): Brush {
  const brush = before ?? NO_BRUSH;
  if (grip.kind === "missing" || grip.kind === "broken") return brush;
  const start = placeAt(layout, from);
  const end = placeAt(layout, to);
  if (axis.column.kind !== "number") return { ...brush, names: namesBetween(axis, start, end) };
  const value = (place: number) => axis.scale.value(held(place));
  const taken = brush.ranges[grip.range];
  if (grip.kind === "new" || !taken) return { ...brush, ranges: addRange(brush.ranges, [value(start), value(end)]) };
  const others = brush.ranges.filter((_, at) => at !== grip.range);
  if (grip.kind === "low") return { ...brush, ranges: addRange(others, [value(end), taken[1]]) };
  if (grip.kind === "high") return { ...brush, ranges: addRange(others, [taken[0], value(end)]) };
  const low = axis.scale.place(taken[0]);
  const high = axis.scale.place(taken[1]);
  const by = Math.max(-low, Math.min(1 - high, end - start));
  return { ...brush, ranges: addRange(others, [value(low + by), value(high + by)]) };
}

function namesBetween(axis: ParallelAxis, start: number, end: number): string[] {
  const size = Math.max(1, axis.column.names.length);
  const first = Math.floor(held(Math.min(start, end)) * size);
  const last = Math.floor(Math.min(size - 1, held(Math.max(start, end)) * size));
  return axis.column.names.slice(first, last + 1);
}

/** The brush after a click: a range is taken away, a name or a rail is chosen or not. */
export function clickAxis(layout: ParallelLayout, axis: ParallelAxis, brush: Brush, grip: Grip, y: number): Brush {
  if (grip.kind === "missing") return { ...brush, missing: !brush.missing };
  if (grip.kind === "broken") return { ...brush, broken: !brush.broken };
  if (grip.kind === "name") {
    const place = placeAt(layout, y);
    const [name] = place < 0 || place > 1 ? [] : namesBetween(axis, place, place);
    if (name === undefined) return brush;
    return {
      ...brush,
      names: brush.names.includes(name) ? brush.names.filter((other) => other !== name) : [...brush.names, name],
    };
  }
  return grip.range < 0 ? brush : { ...brush, ranges: brush.ranges.filter((_, at) => at !== grip.range) };
}
