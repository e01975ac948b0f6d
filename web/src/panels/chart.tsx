/** A metric of the runs over steps or time, as on the Charts page: hover, zoom, log axis, smoothing. */

import { lazily } from "../components/lazily";
import type { Options } from "../lib/report-text";
import { list } from "../lib/url";
import { fieldOf } from "./parts/field-name";
import { Legend } from "./parts/legend";
import { numberOf, type PanelKind, type PanelProps, textOf } from "./panel";

const ScopedPanel = lazily(() => import("../views/charts/scoped").then((chunk) => chunk.ScopedPanel));
const GroupLegend = lazily(() => import("./parts/group-legend").then((chunk) => chunk.GroupLegend));

/** Metric names may hold commas: only a JSON list is several. */
function keysOf(options: Options): string[] {
  const { key } = options;
  return Array.isArray(key) ? key.map(String) : [textOf(options, "key")];
}

/** The options as the address of the Charts page would say them. */
export function chartStart(options: Options, key: string): Record<string, string> {
  const start: Record<string, string> = {};
  const x = textOf(options, "x");
  if (x) start.x = x;
  const group = fieldOf(textOf(options, "group"));
  if (group) start.by = list.write([group]);
  const smooth = textOf(options, "smooth");
  if (smooth && smooth !== "none") start.smooth = smooth;
  const [lo, hi] = [numberOf(options, "lo"), numberOf(options, "hi")];
  if (lo !== null && hi !== null && lo < hi) start.zoom = JSON.stringify({ [x || "step"]: [lo, hi] });
  const own: Record<string, unknown> = {};
  if (options.log === true) own.log = true;
  const [min, max] = [numberOf(options, "min"), numberOf(options, "max")];
  if (min !== null && max !== null && min < max) own.y = [min, max];
  if (Object.keys(own).length) start.panels = JSON.stringify({ [key]: own });
  return start;
}

export function Panel({ options, runs }: PanelProps) {
  const keys = keysOf(options);
  const ids = runs.map((run) => run.id);
  const group = fieldOf(textOf(options, "group"));
  return (
    <>
      <div class="report-charts" data-count={Math.min(keys.length, 3)}>
        {keys.map((key) => (
          <ScopedPanel key={key} runs={ids} name={key} start={chartStart(options, key)} />
        ))}
      </div>
      {group ? <GroupLegend runs={runs} by={group} /> : <Legend runs={runs} />}
    </>
  );
}

export default {
  kind: "chart",
  title: "Chart",
  hint: "one or more metrics of all runs, drawn as lines",
  needs: 1,
  fields: [
    { name: "key", label: "Metric", type: "metrics", required: true },
    {
      name: "x",
      label: "X-axis",
      type: "choice",
      choices: [
        { value: "", label: "Step" },
        { value: "relative", label: "Time since the start" },
        { value: "wall", label: "Wall time" },
      ],
    },
    { name: "smooth", label: "Smoothing", type: "smoothing" },
    { name: "log", label: "Logarithmic y-axis", type: "flag" },
  ],
  Panel,
} satisfies PanelKind;
