/** The Media page: the board for the chosen runs, or for the newest. */

import { useSignalEffect } from "@preact/signals";
import { useState } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { chartRuns, hiddenSet, newest, project, selected } from "../../state";
import { EmptyStore } from "../runs/empty";
import { MediaBoard } from "./board";
import { loadNewest } from "./data";

export function MediaPage() {
  const [fault, setFault] = useState<unknown>(null);
  const load = () => loadNewest().then(() => setFault(null), setFault);
  useSignalEffect(() => {
    if (selected.value.length === 0) void (project.value, load());
  });
  if (fault && newest.value === null && selected.value.length === 0) return <ErrorState error={fault} onRetry={load} />;
  if (chartRuns.value.length === 0) return newest.value === null ? <Waiting /> : <EmptyStore />;
  return <MediaBoard runs={chartRuns.value.filter((id) => !hiddenSet.value.has(id))} />;
}

function Waiting() {
  return (
    <div class="page" aria-busy="true">
      <div class="wait">
        <Skeleton width="40%" />
        <Skeleton width="70%" />
      </div>
    </div>
  );
}
