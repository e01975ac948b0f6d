/** What the model is and what a step of it did: a graph and a table of one recording. docs/model.md is its manual. */

import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { describeKeys } from "../../components/help";
import { GraphViewer } from "../../graph/viewer";
import { onLive } from "../../lib/live";
import { project, selected } from "../../state";
import "../../style/model.css";
import { ModelBar } from "./bar";
import * as data from "./data";
import { NoRecording } from "./empty";
import { ModuleTable } from "./table";

describeKeys("Model", {
  "/": "find an op, module, shape or file",
  "↑ ↓": "along the edges",
  "← →": "to neighbours",
  Enter: "open or close a box",
  "⌫": "close the box around",
  u: "what the selection depends on",
  d: "what depends on it",
  p: "both",
  w: "parameters as nodes",
  "+ −": "zoom",
  "0": "fit to the window",
});

/** With `only`, the recordings of that run alone, and no choice of runs; its id is in the address as `of` already. */
export function Model({ only }: { only?: string; params?: Record<string, string> }) {
  useEffect(() => data.leave, []);
  useSignalEffect(() => void (only ? data.loadOnly(only) : (project.value, selected.value, data.loadRuns())));
  useSignalEffect(() => void (data.run.value, data.runs.peek() && data.loadSteps()));
  useSignalEffect(() => void data.loadModel());
  useEffect(
    () =>
      onLive(
        (event) =>
          event.changed.some((change) => change.id === data.steps.peek()?.run || !data.steps.peek()?.run) &&
          void data.loadSteps(),
      ),
    [],
  );
  const page = data.page.value;
  const graph = data.graph.value;
  return (
    <div class="page model">
      <ModelBar page={page} alone={only !== undefined} />
      {page && graph ? (
        <div class="fill-down model-body" data-show={data.layout.value} aria-busy={data.loading.value}>
          {data.layout.value === "graph" ? null : <ModuleTable key={graph.id} rows={page.modules} state={graph} />}
          {data.layout.value === "table" ? null : <GraphViewer key={graph.id} state={graph} />}
        </div>
      ) : (
        <Nothing />
      )}
    </div>
  );
}

function Nothing() {
  if (data.fault.value) return <ErrorState error={data.fault.value} onRetry={() => void data.loadRuns()} />;
  const steps = data.steps.value;
  if (steps && steps.steps.length === 0) return <NoRecording run={steps.run} />;
  return (
    <div class="wait" aria-busy="true">
      <Skeleton width={360} height={20} />
      <Skeleton width={420} height={20} />
      <Skeleton width={300} height={20} />
    </div>
  );
}
