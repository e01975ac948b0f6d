/** Positions on an x-axis, in words. */

import { formatDuration, formatNumber, formatTime, visibleText } from "../../lib/format";

/** `step 120`, `3m 20s`, `2026-11-15 14:03:27`, `epoch 3`. */
export function sayX(x: string, value: number): string {
  if (x === "relative") return formatDuration(value);
  if (x === "wall") return formatTime(value);
  if (x === "step") return `step ${Math.round(value).toLocaleString("en-US")}`;
  const shown = Number.isInteger(value) ? value.toLocaleString("en-US") : formatNumber(value, 6);
  return `${visibleText(x.slice(0, 40))} ${shown}`;
}
