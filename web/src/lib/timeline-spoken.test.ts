import { expect, test } from "vitest";
import type { Lane, TimelinePage } from "./schema";
import { LANE_HEAD, laneRows } from "./timeline-spoken";

const lane = (name: string, busy_ns: number): Lane => ({
  id: 0,
  name,
  group: 0,
  kind: "host",
  events: 1200,
  depths: 1,
  outer: 0,
  busy_ns,
  quiet: false,
});

function page(rank: number, lanes: Lane[]): TimelinePage {
  const axis = { base_ns: "0", span_ns: 4e6, begin_ns: 0, end_ns: 4e6, tile: 256 };
  const parts = { lanes, groups: [{ name: "python", kind: "host" as const }], steps: [], notes: [] };
  return { rank, ranks: [rank], events: 0, names: 0, ...axis, ...parts };
}

test("the busiest lanes come first, with their process, events and share of the time", () => {
  const rows = laneRows([page(0, [lane("loader", 1e6), lane("main", 3e6)])]);
  expect(rows).toEqual([
    ["main", "python", "1,200", "3 ms", "75%"],
    ["loader", "python", "1,200", "1 ms", "25%"],
  ]);
  expect(rows[0]).toHaveLength(LANE_HEAD.length);
});

test("of several ranks each lane says whose it is, and nobody listens to more than twenty", () => {
  const many = Array.from({ length: 30 }, (_, at) => lane(`t${at}`, at));
  const rows = laneRows([page(0, many), page(1, [lane("other", 1e9)])]);
  expect(rows).toHaveLength(20);
  expect(rows[0]?.slice(0, 2)).toEqual(["other", "Rank 1 · python"]);
});
