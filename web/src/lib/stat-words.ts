/** What a tensor held, in a few letters. */

import { formatNumber } from "./format";
import { shapeText, shortDtype } from "./graph-words";
import type { OpTensor, TensorStats } from "./schema";

/** `2 NaN`, `≥1 Inf`: what is not finite; "" when all is. */
export function badText(stats: TensorStats | null | undefined): string {
  if (!stats) return "";
  const least = stats.counted === false ? "≥" : "";
  const parts = [
    [stats.nan ?? 0, "NaN"],
    [stats.inf ?? 0, "Inf"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${least}${formatNumber(count)} ${word}`)
    .join(", ");
}

/** `0.12 ± 1.03`, or the value itself when there is one. */
export function meanText(stats: TensorStats | null | undefined): string {
  if (!stats || stats.mean === null || stats.mean === undefined) return "";
  if (stats.numel === 1 || stats.std === null || stats.std === undefined) return formatNumber(stats.mean, 3);
  return `${formatNumber(stats.mean, 3)} ± ${formatNumber(stats.std, 3)}`;
}

/** `−3.1 … 4.2` over the finite values. */
export function rangeText(stats: TensorStats | null | undefined): string {
  if (!stats || stats.min === null || stats.min === undefined || stats.max === null || stats.max === undefined)
    return "";
  return stats.min === stats.max
    ? formatNumber(stats.min, 3)
    : `${formatNumber(stats.min, 3)} … ${formatNumber(stats.max, 3)}`;
}

/** All of it, for a tooltip. */
export function statsTitle(stats: TensorStats | null | undefined): string {
  if (!stats) return "no statistics were recorded";
  const parts = [
    `${stats.numel.toLocaleString("en-US")} values`,
    badText(stats),
    meanText(stats) && `mean ± std ${meanText(stats)}`,
    rangeText(stats) && `range ${rangeText(stats)}`,
    stats.norm === null || stats.norm === undefined ? "" : `norm ${formatNumber(stats.norm, 3)}`,
    stats.zeros ? `${formatNumber((100 * stats.zeros) / Math.max(1, stats.numel), 3)}% zeros` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

export function tensorLabel(tensor: OpTensor): string {
  return `${shapeText(tensor.shape)} ${shortDtype(tensor.dtype)}`;
}
