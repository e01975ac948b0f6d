/** Sizes and limits of the Storage page. Pure functions. */

import { formatBytes } from "./format";
import type { ProjectStorage, Retention } from "./schema";

/** What takes the room, in the order of the bar. */
export const PARTS = ["points", "media", "artifacts", "other", "incoming", "trash"] as const;
export type Part = (typeof PARTS)[number];

export const totalBytes = (one: Pick<ProjectStorage, Part>): number => PARTS.reduce((sum, part) => sum + one[part], 0);

/** "points 30 days, newest 5 media, trash 30 days"; what is kept for ever is left out. */
export function describeRetention(kept: Retention): string {
  const said = [
    kept.points_days == null ? "" : `all points for ${days(kept.points_days)}`,
    kept.media_newest == null ? "" : `newest ${kept.media_newest} media per key`,
    kept.artifact_days == null ? "" : `unused artifacts for ${days(kept.artifact_days)}`,
    `trash for ${days(kept.trash_days ?? 30)}`,
  ];
  return said.filter(Boolean).join(", ");
}

const days = (count: number): string => `${count} ${count === 1 ? "day" : "days"}`;

const UNITS: Record<string, number> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** The bytes of "500 GB" or "1.5TiB"; null for an empty text (no limit), undefined for what is not a size. */
export function parseBytes(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const found = /^\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?\s*$/i.exec(text);
  return found ? Math.round(Number(found[1]) * (UNITS[(found[2] ?? "").toLowerCase()] ?? 1)) : undefined;
}

/** A number that is not negative; null for an empty text (keep everything), undefined for anything else. */
export function parseLimit(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** "1.5 GiB of 2 GiB" or "1.5 GiB". */
export const usedOf = (used: number, quota: number | null): string =>
  quota === null ? formatBytes(used) : `${formatBytes(used)} of ${formatBytes(quota)}`;
