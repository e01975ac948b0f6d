/** The metrics of the runs side by side, the best marked, with the change against one of them. */

import { lazily } from "../components/lazily";
import { namesOf, type PanelKind, type PanelProps, textOf } from "./panel";

const MetricTable = lazily(() => import("../views/compare/panels").then((chunk) => chunk.MetricTable));

function Panel({ options, runs }: PanelProps) {
  const base = textOf(options, "baseline");
  const found =
    runs.find((run) => run.id === base || run.name === base) ??
    runs.find((run) => base !== "" && run.id.startsWith(base));
  return <MetricTable runs={runs.map((run) => run.id)} metrics={namesOf(options, "keys")} base={found?.id ?? ""} />;
}

export default {
  kind: "metrics",
  title: "Metrics compared",
  hint: "all numbers side by side, with the change against a baseline",
  needs: 1,
  fields: [
    { name: "keys", label: "Metrics", type: "metrics", hint: "all if empty" },
    { name: "baseline", label: "Baseline", type: "text", hint: "the name or id of a run" },
  ],
  Panel,
} satisfies PanelKind;
