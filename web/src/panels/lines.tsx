/** Several metrics, or formulas over them, in one plot, with a second axis where their sizes differ. */

import { lazily } from "../components/lazily";
import { type PanelKind, type PanelProps, textOf } from "./panel";
import { Legend } from "./parts/legend";

const LinesFigure = lazily(() => import("./parts/lines-figure").then((chunk) => chunk.LinesFigure));

/** Names and formulas may hold commas: only a list is several. */
const several = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === "string" && value ? [value] : [];

function Panel({ options, runs }: PanelProps) {
  return (
    <>
      <LinesFigure
        runs={runs.map((run) => run.id)}
        left={several(options.y)}
        right={several(options.right)}
        x={textOf(options, "x") || "step"}
        smooth={textOf(options, "smooth")}
        log={options.log === true}
      />
      <Legend runs={runs} />
    </>
  );
}

export default {
  kind: "lines",
  title: "Lines",
  hint: "several metrics or formulas in one chart, on one axis or two",
  needs: 1,
  fields: [
    {
      name: "y",
      label: "Metrics or formulas",
      type: "metrics",
      required: true,
      hint: "loss, or a formula: = 1 - val/acc",
    },
    { name: "right", label: "On the right axis", type: "metrics", hint: "metrics on a different scale" },
    { name: "x", label: "X-axis", type: "metric", hint: "step, relative, wall, a metric or a formula" },
    { name: "smooth", label: "Smoothing", type: "smoothing" },
    { name: "log", label: "Logarithmic y-axes", type: "flag" },
  ],
  Panel,
} satisfies PanelKind;
