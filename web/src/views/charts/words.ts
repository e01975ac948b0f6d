/** Positions on an x-axis, in words. */

import { X_LABELS } from "../../lib/chart-settings";
import { formatDuration, formatNumber, formatTime } from "../../lib/format";

/** `step 120`, `3m 20s`, `2026-11-15 14:03:27`, `epoch 3`. */
export function sayX(x: string, value: number): string {
  if (x === "relative") return formatDuration(value);
  if (x === "wall") return formatTime(value);
  const shown = Number.isInteger(value) ? value.toLocaleString("en-US") : formatNumber(value, 6);
  return `${x in X_LABELS ? x : x.slice(0, 40)} ${shown}`;
}
