/** Two numbers of each run against each other. */

import { lazily } from "../components/lazily";
import { type PanelKind, type PanelProps, textOf } from "./panel";

const ScatterPanel = lazily(() => import("../views/parameters/panels").then((chunk) => chunk.ScatterPanel));

function Panel({ options, runs }: PanelProps) {
  const [x, y] = [textOf(options, "x"), textOf(options, "y")];
  return (
    <ScatterPanel
      runs={runs.map((run) => run.id)}
      metric={textOf(options, "metric")}
      {...(x ? { x } : {})}
      {...(y ? { y } : {})}
    />
  );
}

export default {
  kind: "scatter",
  title: "Scatter plot",
  hint: "two parameters or metrics against each other; all pairs if none is named",
  needs: 1,
  fields: [
    { name: "x", label: "Across", type: "column", hint: "config.lr" },
    { name: "y", label: "Up", type: "column", hint: "val/loss.min" },
    { name: "metric", label: "Judged by", type: "metric" },
  ],
  Panel,
} satisfies PanelKind;
