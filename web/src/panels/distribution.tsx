/** How the values of a tensor were spread, over the steps. */

import type { HistogramMode } from "../charts/draw-histograms";
import { useState } from "preact/hooks";
import { lazily } from "../components/lazily";
import { count } from "../lib/format";
import { type PanelKind, type PanelProps, textOf } from "./panel";
import { RunName } from "./parts/run-name";

const DistributionPanel = lazily(() => import("../views/distributions/panel").then((chunk) => chunk.DistributionPanel));
const MODES: Record<string, HistogramMode> = { ridge: "ridges", heat: "heat", bands: "bands" };
const MOST = 6;

function Panel({ options, runs }: PanelProps) {
  const [missing, setMissing] = useState<ReadonlySet<string>>(new Set());
  const shown = runs.filter((run) => !missing.has(run.id)).slice(0, MOST);
  const without = runs.filter((run) => missing.has(run.id)).length;
  if (shown.length === 0) return <p class="none">The shown runs did not log this.</p>;
  return (
    <>
      <div class="report-charts" data-count={Math.min(shown.length, 3)}>
        {shown.map((run) => (
          <div key={run.id} class="vstack gap-1 pad shrinks framed report-distribution">
            <RunName run={run} />
            <DistributionPanel
              run={run.id}
              name={textOf(options, "key")}
              mode={MODES[textOf(options, "view")] ?? "ridges"}
              onMissing={() => setMissing((old) => new Set([...old, run.id]))}
            />
          </div>
        ))}
      </div>
      {without > 0 ? <p class="tiny quiet">{count(without, "run")} without these histograms</p> : null}
    </>
  );
}

export default {
  kind: "distribution",
  title: "Distribution",
  hint: "histograms of weights, gradients or activations over the steps",
  needs: 1,
  fields: [
    { name: "key", label: "Key", type: "histogram", required: true },
    {
      name: "view",
      label: "As",
      type: "choice",
      choices: [
        { value: "", label: "Ridgelines" },
        { value: "heat", label: "Heat map" },
        { value: "bands", label: "Percentile bands" },
      ],
    },
  ],
  Panel,
} satisfies PanelKind;
