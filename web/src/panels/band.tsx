/** Groups of runs: the mean of each, with a band around it. */

import chart, { Panel } from "./chart";
import type { PanelKind } from "./panel";

export default {
  kind: "band",
  title: "Groups with bands",
  hint: "runs that share a parameter as one line: their mean and how far they spread",
  needs: 1,
  fields: [
    { name: "group", label: "Grouped by", type: "config", required: true, hint: "lr, or any other config key" },
    ...chart.fields,
  ],
  Panel,
} satisfies PanelKind;
