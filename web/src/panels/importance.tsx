/** Which parameter matters for how the runs came out. */

import { lazily } from "../components/lazily";
import { type PanelKind, type PanelProps, textOf } from "./panel";

const ImportancePanel = lazily(() => import("../views/parameters/panels").then((chunk) => chunk.ImportancePanel));

function Panel({ options, runs }: PanelProps) {
  return <ImportancePanel runs={runs.map((run) => run.id)} metric={textOf(options, "metric")} />;
}

export default {
  kind: "importance",
  title: "Importance of parameters",
  hint: "which parameter matters for a metric, over ten runs or more",
  needs: 2,
  fields: [{ name: "metric", label: "Judged by", type: "metric", hint: "the main metric if empty" }],
  Panel,
} satisfies PanelKind;
