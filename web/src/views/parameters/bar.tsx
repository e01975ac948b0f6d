/** What the page is of: the query, whose runs, the metric and what of it, and the view. */

import { Select } from "../../components";
import { Segments } from "../../components/segments";
import { count, visibleText } from "../../lib/format";
import { selected } from "../../state";
import { QueryBox } from "../runs/query-box";
import { AxisPicker } from "./axis-picker";
import * as data from "./data";

const VIEWS: readonly { value: data.View; label: string; about: string }[] = [
  { value: "parallel", label: "Parallel", about: "Every run as a line over all parameters" },
  { value: "scatter", label: "Scatter", about: "Every pair of parameters" },
  { value: "importance", label: "Importance", about: "What the metric depends on" },
  { value: "best", label: "Best so far", about: "How the best value improved over time" },
  { value: "table", label: "Table", about: "Every number" },
];

const STATS: readonly { value: data.Stat; label: string }[] = [
  { value: "best", label: "best" },
  { value: "last", label: "last" },
  { value: "min", label: "minimum" },
  { value: "max", label: "maximum" },
  { value: "mean", label: "mean" },
];

export function ParametersBar() {
  return (
    <div class="bar toolbar params-bar">
      <Segments label="View" value={data.view.value} options={VIEWS} onChange={(view) => (data.view.value = view)} />
      <MetricPicker />
      {data.view.value === "parallel" || data.view.value === "scatter" ? <AxisPicker scope={data.scope} /> : null}
      <span class="spring" />
      <QueryBox />
      <Unfinished />
      <Whose />
    </div>
  );
}

function MetricPicker() {
  const table = data.table.value;
  if (!table?.metricName) return null;
  const names = table.metrics.includes(table.metricName) ? table.metrics : [table.metricName, ...table.metrics];
  const asks = data.goal.value !== "" || table.goal === null;
  return (
    <span class="inline gap-2 one-line params-metric">
      <span class="quiet">Rank by</span>
      <Select label="Statistic" value={data.stat.value} options={STATS} onChange={(stat) => (data.stat.value = stat)} />
      <Select
        label="Metric"
        value={table.metricName}
        options={names.map((name) => ({ value: name, label: visibleText(name) }))}
        onChange={(name) => (data.metric.value = name)}
      />
      {asks ? (
        <Select
          label="Goal"
          value={data.goal.value}
          options={[
            { value: "", label: "which way is good?" },
            { value: "min", label: "lower is better" },
            { value: "max", label: "higher is better" },
          ]}
          onChange={(goal) => (data.goal.value = goal)}
        />
      ) : (
        <span class="quiet" title="As run.define said, or as the name says">
          {table.goal === "min" ? "lower is better" : "higher is better"}
        </span>
      )}
    </span>
  );
}

/** Says who is missing, and brings them back. */
function Unfinished() {
  const left = data.table.value?.unfinished ?? 0;
  if (left === 0 && !data.unfinished.value) return null;
  const words = data.unfinished.value ? "unfinished shown" : `${left.toLocaleString("en-US")} unfinished hidden`;
  return (
    <button
      type="button"
      class="one-line link"
      aria-pressed={data.unfinished.value}
      title="Runs that failed, were stopped or are still running have not reached their final value"
      onClick={() => (data.unfinished.value = !data.unfinished.value)}
    >
      {words}
    </button>
  );
}

function Whose() {
  const chosen = selected.value.length;
  const table = data.table.value;
  const all = table ? count(table.size + table.omitted, "run") : "";
  if (chosen === 0 && data.whose.value === "all")
    return (
      <span class="quiet matched" role="status">
        {all}
      </span>
    );
  return (
    <Segments
      label="Whose parameters"
      value={data.whose.value}
      options={[
        {
          value: "all",
          label: data.whose.value === "all" && table ? `All ${table.size + table.omitted}` : "All",
          about: "All runs that match the query",
        },
        { value: "chosen", label: `Chosen ${chosen}`, about: "Only the selected runs" },
      ]}
      onChange={(whose) => (data.whose.value = whose)}
    />
  );
}
