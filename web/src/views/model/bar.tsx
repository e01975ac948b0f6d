/** Which run, which recording, which phases; and what the recording is, in a line. */

import { Segments } from "../../components/segments";
import { Select, Toggle } from "../../components";
import { count, visibleText } from "../../lib/format";
import { cut, formatCount, formatMicros } from "../../lib/graph-words";
import type { ModelPage } from "../../lib/schema";
import { nameOf } from "../../state";
import * as data from "./data";

export function ModelBar({ page, alone = false }: { page: ModelPage | null; alone?: boolean }) {
  const steps = data.steps.value;
  const ids = data.runs.value ?? [];
  const shown = steps?.run ?? "";
  const options = [...new Set([...(shown ? [shown] : []), ...ids])].map((id) => ({
    value: id,
    label: cut(nameOf(id)),
  }));
  const recordings = [...(steps?.steps ?? [])].reverse();
  if (steps && !shown && !alone) return null;
  return (
    <div class="bar model-bar" role="toolbar" aria-label="Recording">
      {options.length > 0 && !alone ? (
        <Select
          label="Run"
          value={shown}
          options={options}
          onChange={(id) => ((data.recording.value = ""), (data.run.value = id))}
        />
      ) : null}
      {recordings.length > 0 ? (
        <Select
          label="Recorded step"
          value={data.chosen.value ? data.recordingId(data.chosen.value) : ""}
          options={recordings.map((one) => ({ value: data.recordingId(one), label: labelOf(one.key, one.step) }))}
          onChange={(id) => (data.recording.value = id)}
        />
      ) : null}
      {page ? (
        <>
          <Toggle label="Backward" checked={data.backward.value} onChange={(on) => (data.backward.value = on)} />
          <Toggle label="Optimizer" checked={data.optimizer.value} onChange={(on) => (data.optimizer.value = on)} />
          <span class="spring" />
          <Summary page={page} />
          <Show />
        </>
      ) : null}
    </div>
  );
}

function labelOf(key: string, step: number): string {
  const name = `step ${step.toLocaleString("en-US")}`;
  return key === "recording" || key === "step" ? name : `${name} · ${cut(key)}`;
}

function Summary({ page }: { page: ModelPage }) {
  const root = page.modules[0];
  const words = [
    page.graph.model,
    root?.params ? `${formatCount(root.params)} parameters` : "",
    root?.flops ? `${formatCount(root.flops)} FLOPs` : "",
    count(page.ops, "op"),
    page.time_us ? formatMicros(page.time_us) : "",
    page.graph.device,
  ];
  return (
    <span class="shrinks soft isolate ellipsis model-summary">
      {words.filter(Boolean).map(visibleText).join("  ·  ")}
    </span>
  );
}

const LAYOUTS: readonly { value: data.Layout; label: string }[] = [
  { value: "table", label: "Table" },
  { value: "both", label: "Both" },
  { value: "graph", label: "Graph" },
];

function Show() {
  return (
    <Segments
      label="Show"
      value={data.layout.value}
      options={LAYOUTS}
      onChange={(layout) => (data.layout.value = layout)}
    />
  );
}
