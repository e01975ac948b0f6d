/** Layers and their histograms: which to show first, which range to draw them in, what one histogram says. */

import type { DistributionCell, DistributionLayer, Histograms } from "./schema";

export const ORDERS = ["wrong", "model", "name", "moved", "wide", "stuck", "bad"] as const;
export type LayerOrder = (typeof ORDERS)[number];
export type SharedRange = "own" | "column" | "row";
export type Range = readonly [number, number];

/** What an order goes by, in a few words for the page. */
export const ORDER_WORDS: Record<LayerOrder, { label: string; about: string }> = {
  wrong: {
    label: "What is wrong",
    about: "NaN and ∞ first, then exploding, then dead or saturated layers; the others as they were first logged.",
  },
  model: { label: "Model order", about: "As the layers were first logged." },
  name: { label: "Name", about: "By name; numbers count as numbers." },
  moved: {
    label: "Most changed",
    about:
      "From the first histogram to the newest: √(change of mean² + change of deviation²), in deviations of the first.",
  },
  wide: { label: "Widest", about: "By the standard deviation of the newest histogram." },
  stuck: {
    label: "Dead or saturated",
    about: "By the share of values in the two fullest bins of the newest histogram.",
  },
  bad: { label: "NaN and ∞", about: "By how many values were not finite, at all steps." },
};

/** Nearly everything in two bins: nothing more comes through. */
const STUCK = 0.95;
/** So many deviations away from where it began. */
const EXPLODED = 10;

/** Whether a histogram has no finite value, so that there is nothing to draw. */
export function isAllBad(data: Histograms, row: number): boolean {
  return !Number.isFinite(data.percentiles[row]?.[0] ?? Number.NaN);
}

/** Whether none of the histograms has a finite value. */
export const nothingFinite = (data: Histograms): boolean =>
  data.steps.length > 0 && data.steps.every((_, row) => isAllBad(data, row));

export interface Wrong {
  /** How grave: more is worse. */
  grade: number;
  words: string;
}

/** What is wrong with a layer's histograms, the gravest thing; null when nothing is. */
function wrongOf(cell: DistributionCell): Wrong | null {
  if (cell.bad > 0) return { grade: 3, words: `${cell.bad.toLocaleString("en-US")} NaN or ∞ in the ${cell.family}` };
  if ((cell.moved ?? 0) >= EXPLODED)
    return {
      grade: 2,
      words: `${cell.family} exploding: moved ${Math.round(cell.moved ?? 0).toLocaleString("en-US")} sd`,
    };
  if ((cell.stuck ?? 0) >= STUCK && cell.count > 1)
    return { grade: 1, words: `${cell.family} dead or saturated: ${Math.round((cell.stuck ?? 0) * 100)}% in two bins` };
  return null;
}

/** The gravest of several cells. */
export function gravest(cells: readonly DistributionCell[]): Wrong | null {
  const found = cells.map(wrongOf).filter((one) => one !== null);
  return found.reduce<Wrong | null>((worst, one) => (worst && worst.grade >= one.grade ? worst : one), null);
}

function weight(cell: DistributionCell, order: LayerOrder): number {
  if (order === "moved") return cell.moved ?? -1;
  if (order === "wide") return cell.std ?? -1;
  if (order === "stuck") return cell.stuck ?? -1;
  if (order === "wrong") return wrongOf(cell)?.grade ?? 0;
  return cell.bad;
}

/**
 * The layers that fit a search, ordered. Among a layer's cells that are shown, the one that stands out most decides.
 */
export function arrange(
  layers: readonly DistributionLayer[],
  search: string,
  order: LayerOrder,
  shown: (cell: DistributionCell) => boolean,
): DistributionLayer[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = layers.filter((layer) => {
    const name = layer.name.toLowerCase();
    return (
      layer.cells.some(shown) &&
      words.every((word) => name.includes(word) || layer.cells.some((cell) => cell.key.toLowerCase().includes(word)))
    );
  });
  if (order === "model") return found;
  if (order === "name") return found.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const weights = new Map(
    found.map((layer) => [layer, Math.max(...layer.cells.filter(shown).map((cell) => weight(cell, order)))]),
  );
  return found.sort((a, b) => (weights.get(b) as number) - (weights.get(a) as number));
}

/** The range that holds all of these cells; null where none has one. */
export function rangeOf(cells: readonly DistributionCell[]): Range | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const cell of cells) {
    if (cell.low !== null && cell.low < low) low = cell.low;
    if (cell.high !== null && cell.high > high) high = cell.high;
  }
  return low < high ? [low, high] : null;
}

/** The first and last step of all cells; null without any. */
export function stepsOf(layers: readonly DistributionLayer[]): Range | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { cells } of layers) {
    for (const cell of cells) {
      low = Math.min(low, cell.first_step);
      high = Math.max(high, cell.last_step);
    }
  }
  return low <= high ? [low, high] : null;
}

/** The row of the newest step at or before the wanted one; the first when all are later, null without rows. */
export function rowAt(steps: readonly number[], step: number | null): number | null {
  if (step === null || steps.length === 0) return null;
  let row = 0;
  while (row + 1 < steps.length && (steps[row + 1] as number) <= step) row++;
  return row;
}

/**
 * Where a share of a histogram's content lies below, each bin's content spread evenly over it. NaN when it is empty.
 */
export function percentileOf(edges: readonly number[], counts: readonly number[], share: number): number {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (!(total > 0)) return Number.NaN;
  let below = 0;
  for (const [bin, n] of counts.entries()) {
    if (n > 0 && below + n >= share * total) {
      const low = edges[bin] as number;
      return low + ((edges[bin + 1] as number) - low) * Math.max(0, Math.min(1, (share * total - below) / n));
    }
    below += n;
  }
  return edges[edges.length - 1] as number;
}

/** The share of the content in the bin that holds zero; null where zero is outside. */
export function shareAtZero(edges: readonly number[], counts: readonly number[]): number | null {
  const total = counts.reduce((sum, n) => sum + n, 0);
  const bin = counts.findIndex(
    (_, at) =>
      (edges[at] as number) <= 0 &&
      ((edges[at + 1] as number) > 0 || (at === counts.length - 1 && edges[at + 1] === 0)),
  );
  return bin < 0 || !(total > 0) ? null : (counts[bin] as number) / total;
}
