/** The lanes of a timeline in words: the table that stands behind the picture for screen readers. */

import { visibleText } from "./format";
import { formatNs, formatShare } from "./profile-format";
import type { TimelinePage } from "./schema";

/** More rows than this nobody listens to. */
const MOST_ROWS = 20;

export const LANE_HEAD = ["Lane", "Process or device", "Events", "Busy", "Share of the time"];

/** The busiest lanes of all ranks first. */
export function laneRows(pages: readonly TimelinePage[]): string[][] {
  const many = pages.length > 1;
  const lanes = pages.flatMap((page) => page.lanes.map((lane) => ({ lane, page })));
  lanes.sort((a, b) => b.lane.busy_ns - a.lane.busy_ns);
  return lanes
    .slice(0, MOST_ROWS)
    .map(({ lane, page }) => [
      visibleText(lane.name),
      `${many ? `Rank ${page.rank} · ` : ""}${visibleText(page.groups[lane.group]?.name ?? "")}`,
      lane.events.toLocaleString("en-US"),
      formatNs(lane.busy_ns),
      formatShare(Math.min(1, lane.busy_ns / Math.max(1, page.end_ns - page.begin_ns))),
    ]);
}
