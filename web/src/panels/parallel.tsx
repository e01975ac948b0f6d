/** What the runs were set to and how they came out: parallel coordinates, with brushes. */

import { lazily } from "../components/lazily";
import { namesOf, type PanelKind, type PanelProps, textOf } from "./panel";

const ParallelPanel = lazily(() => import("../views/parameters/panels").then((chunk) => chunk.ParallelPanel));

function Panel({ options, runs }: PanelProps) {
  return (
    <ParallelPanel
      runs={runs.map((run) => run.id)}
      metric={textOf(options, "metric")}
      axes={namesOf(options, "columns")}
    />
  );
}

export default {
  kind: "parallel",
  title: "Parallel coordinates",
  hint: "parameters and outcome of many runs as lines over axes",
  needs: 1,
  fields: [
    { name: "metric", label: "Judged by", type: "metric", hint: "the main metric if empty" },
    { name: "columns", label: "Axes", type: "columns", hint: "the config that differs if empty" },
  ],
  Panel,
} satisfies PanelKind;
