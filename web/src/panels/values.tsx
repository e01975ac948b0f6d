/** One number of each run as bars, boxes or a histogram, by run or by group. */

import { call } from "../lib/api";
import type { RunsPage } from "../lib/schema";
import { type PanelKind, type PanelProps, textOf } from "./panel";
import { Asked } from "./parts/asked";
import { fieldOf } from "./parts/field-name";
import { ValuesFigure } from "./parts/values-figure";

/** Files that were shared look answers up by the request: change it on both sides or on none. */
function ask({ options, runs }: PanelProps, stop: AbortSignal): Promise<RunsPage> {
  const group = fieldOf(textOf(options, "group"));
  const columns = [textOf(options, "value"), ...(group ? [group] : [])];
  return call(
    "POST /api/runs",
    { runs: runs.map((run) => run.id), sort: "created", descending: true, columns, limit: runs.length, archived: true },
    { signal: stop },
  );
}

function Panel(props: PanelProps) {
  const ids = props.runs.map((run) => run.id);
  const { options } = props;
  return (
    <Asked
      question={JSON.stringify([options.value, options.group, ids])}
      runs={ids}
      height={180}
      ask={(stop) => ask(props, stop)}
    >
      {(page) => (
        <ValuesFigure
          rows={page.rows}
          name={textOf(options, "value")}
          grouped={textOf(options, "group") !== ""}
          shape={textOf(options, "shape") || "bar"}
        />
      )}
    </Asked>
  );
}

export default {
  kind: "values",
  title: "Bars, box plot or histogram",
  hint: "one number of each run, by run or by group",
  needs: 1,
  fields: [
    { name: "value", label: "Value", type: "column", required: true, hint: "val/acc.max, duration, config.lr" },
    {
      name: "shape",
      label: "Drawn as",
      type: "choice",
      choices: [
        { value: "", label: "Bars" },
        { value: "box", label: "Box plot" },
        { value: "histogram", label: "Histogram" },
      ],
    },
    { name: "group", label: "Grouped by", type: "column", hint: "config.lr; empty for every run by itself" },
  ],
  Panel,
} satisfies PanelKind;
