/** What happened in the selected stretch of time. */

import { useMemo } from "preact/hooks";
import { Button, IconButton } from "../../../components";
import { CloseIcon } from "../../../components/icons";
import { count, visibleText } from "../../../lib/format";
import { formatNs, formatShare } from "../../../lib/profile-format";
import { selectionSheet } from "../../../lib/timeline-selection";
import { SheetTable } from "../sheet";
import type { TimelineState } from "./state";

export function Statistics({ state }: { state: TimelineState }) {
  const found = state.selection.value;
  const sheet = useMemo(() => (found ? selectionSheet(found.bySource, found.of[1] - found.of[0]) : null), [found]);
  if (!found || !sheet) return null;
  const [begin, end] = found.of;
  return (
    <section class="vstack rigid timeline-panel" aria-label="The selection">
      <header>
        <h2>
          {formatNs(end - begin)} selected{" "}
          <span class="quiet">
            {count(
              found.bySource.reduce((sum, one) => sum + one.events, 0),
              "event",
            )}
          </span>
        </h2>
        <span class="spring" />
        <Button kind="quiet" onClick={() => state.flyTo({ begin, scale: (end - begin) / state.size.peek().width })}>
          Zoom to it
        </Button>
        <IconButton label="Close (Esc)" onClick={() => void state.select(null)}>
          <CloseIcon />
        </IconButton>
      </header>
      <div class="gap-4 fill-down timeline-selection">
        <SheetTable sheet={sheet} fill />
        <div class="scroll small timeline-part">
          <h3 title="The share of the selection in which the lane had an event open">Busy share of the lanes</h3>
          <Shares state={state} found={found} />
        </div>
      </div>
    </section>
  );
}

function Shares({ state, found }: { state: TimelineState; found: NonNullable<TimelineState["selection"]["value"]> }) {
  const length = Math.max(1, found.of[1] - found.of[0]);
  const rows = found.bySource.flatMap((selection, source) =>
    (state.sources.value[source]?.page.lanes ?? []).flatMap((lane) => {
      const share = selection.lanes.find((one) => one.lane === lane.id);
      const name = `${state.sources.value[source]?.page.groups[lane.group]?.name ?? ""} · ${lane.name}`;
      return share
        ? [{ id: `${source}.${lane.id}`, name, share: Math.min(1, share.busy_ns / length), ns: share.busy_ns }]
        : [];
    }),
  );
  return (
    <ul class="timeline-shares">
      {rows.slice(0, 200).map((row) => (
        <li key={row.id} title={`${visibleText(row.name)}: busy for ${formatNs(row.ns)}`}>
          <span class="ellipsis isolate">{visibleText(row.name)}</span>
          <span class="timeline-share">
            <i style={{ width: `${row.share * 100}%` }} />
          </span>
          <span>{formatShare(row.share)}</span>
        </li>
      ))}
    </ul>
  );
}
