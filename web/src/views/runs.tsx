/** The Runs page: which runs are there, how do they differ, which are good? */

import { useEffect } from "preact/hooks";
import "../style/runs.css";
import "../style/runs-table.css";
import "../style/runs-popovers.css";
import "../style/alive.css";
import { Button, ErrorState, Skeleton } from "../components";
import { describeKeys } from "../components/help";
import { WarningIcon } from "../components/icons";
import { liveState } from "../lib/live";
import type { PageDef } from "../router";
import { failure, retry, table, waiting, watchRuns } from "./runs/data";
import { EmptyStore, NoMatch } from "./runs/empty";
import { endPeek, PeekCard } from "./runs/peek";
import { columnsKnown } from "./runs/settings";
import { RunsTable } from "./runs/table";
import { Toolbar } from "./runs/toolbar";

describeKeys("Runs", {
  "/": "write a query",
  "j k": "next, previous run",
  "J K": "select while moving",
  x: "select the run (also Space)",
  Enter: "open the run",
  v: "hide or show its lines",
  c: "show the selected runs in Charts",
  d: "what differs between the selected runs",
  e: "archive the selected runs",
  Delete: "delete the selected runs",
  Esc: "choose none",
});

function Runs() {
  useEffect(watchRuns, []);
  useEffect(() => endPeek, []);
  const now = table.value;
  if (!now && failure.value) return <ErrorState error={failure.value} onRetry={retry} />;
  if (now && now.total === 0 && !waiting.value) return <EmptyStore />;
  return (
    <section class="page runs" aria-label="Runs">
      <Toolbar />
      <Trouble />
      {!now || !columnsKnown.value ? <Loading /> : now.matched === 0 && !waiting.value ? <NoMatch /> : <RunsTable />}
      <PeekCard />
    </section>
  );
}

/** The rows on the screen are old: says so, and why. The live badge already tells when only the line is down. */
function Trouble() {
  const fault = failure.value;
  if (!fault || !table.value || liveState.value.kind === "retrying") return null;
  return (
    <div class="hstack gap-2 under banner trouble" data-tone="warn" role="alert">
      <WarningIcon size={14} />
      <span class="isolate">
        These rows may be out of date: {fault instanceof Error ? fault.message : String(fault)}
      </span>
      <Button onClick={retry}>Try again</Button>
    </div>
  );
}

function Loading() {
  return (
    <div class="loading" aria-label="Loading runs" role="status">
      {Array.from({ length: 12 }, (_, at) => (
        <div key={at} class="hstack under loading-row">
          <Skeleton width={`${18 + ((at * 7) % 10)}%`} />
          <Skeleton width="6%" />
          <Skeleton width="8%" />
          <Skeleton width="5%" />
          <Skeleton width="5%" />
        </div>
      ))}
    </div>
  );
}

export default { path: "/runs", title: "Runs", nav: true, order: 10, Page: Runs } satisfies PageDef;
