/** The names at the left: processes, threads, streams. Only those on the screen are in the page. */

import { ChevronDownIcon, ChevronRightIcon } from "../../../components/icons";
import { count, visibleText } from "../../../lib/format";
import { formatShare } from "../../../lib/profile-format";
import { LINE, PAD, type Row, rowsIn } from "../../../lib/timeline-rows";
import type { TimelineState } from "./state";

export function LaneNames({ state }: { state: TimelineState }) {
  const scroll = state.scroll.value;
  const rows = rowsIn(state.rows.value, scroll, scroll + state.size.value.height);
  return (
    <>
      {rows.map((row) => (
        <Name key={row.id} row={row} top={row.top - scroll} state={state} />
      ))}
    </>
  );
}

function Name({ row, top, state }: { row: Row; top: number; state: TimelineState }) {
  const source = state.sources.value[row.source];
  if (!source) return null;
  const { page } = source;
  const many = state.sources.value.length > 1;
  const said =
    row.kind === "head" ? `${many ? `Rank ${page.rank} · ` : ""}${page.groups[row.group]?.name ?? ""}` : row.lane.name;
  const name = visibleText(said);
  const busy = row.kind === "lane" ? row.lane.busy_ns / Math.max(1, page.end_ns - page.begin_ns) : 0;
  const about =
    row.kind === "head"
      ? count(row.lanes, "lane")
      : `${count(row.lane.events, "event")}, busy ${formatShare(Math.min(1, busy))} of the time, ${count(row.lane.depths, "level")} deep`;
  /** A lane taller than the screen keeps its name in view. */
  const inView = Math.max(0, Math.min(-top, row.height - LINE - 2 * PAD));
  const foldable = row.kind === "head" || row.lane.depths > 1;
  return (
    <button
      type="button"
      class={row.kind === "head" ? "timeline-head" : "timeline-lane"}
      style={{
        top: `${top}px`,
        height: `${row.height}px`,
        paddingTop: row.kind === "lane" ? `${4 + inView}px` : undefined,
      }}
      title={`${name}\n${about}`}
      aria-expanded={foldable ? row.open : undefined}
      disabled={!foldable}
      onClick={() => state.toggle(row.id)}
    >
      {foldable ? (
        row.open ? (
          <ChevronDownIcon size={12} />
        ) : (
          <ChevronRightIcon size={12} />
        )
      ) : (
        <span class="timeline-nofold" />
      )}
      <span class="ellipsis isolate">{name}</span>
      {row.kind === "lane" ? <span class="digits quiet">{formatShare(Math.min(1, busy))}</span> : null}
    </button>
  );
}
