/** A chart of one's own as a Vega-Lite specification, over the runs and their points. */

import { lazily } from "../components/lazily";
import { type PanelKind, type PanelProps, textOf } from "./panel";

// A megabyte of script: it is fetched, from our own server, when such a panel is first shown.
const VegaFigure = lazily(() => import("./parts/vega-figure").then((chunk) => chunk.VegaFigure));

const EXAMPLE = `{
  "data": {"name": "runs"},
  "mark": "bar",
  "encoding": {
    "x": {"field": "name"},
    "y": {"field": "duration", "type": "quantitative"}
  }
}`;

const several = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === "string" && value ? [value] : [];

function Panel({ options, runs }: PanelProps) {
  return <VegaFigure runs={runs.map((run) => run.id)} spec={textOf(options, "spec")} keys={several(options.key)} />;
}

export default {
  kind: "vega",
  title: "Vega-Lite",
  hint: "a chart of your own: data is “runs” (one row per run) or “points” (one row per point of the metrics)",
  needs: 1,
  example: { spec: EXAMPLE },
  fields: [
    {
      name: "spec",
      label: "Specification",
      type: "long",
      required: true,
    },
    { name: "key", label: "Metrics for “points”", type: "metrics" },
  ],
  Panel,
} satisfies PanelKind;
