/** The Parameters page: what runs were set to, and what came of it. docs/parameters.md is its manual. */

import { useEffect } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { describeKeys } from "../../components/help";
import { lazily } from "../../components/lazily";
import { useKeys } from "../../keys";
import { selected } from "../../state";
import "../../style/parameters.css";
import "../../style/parameters-more.css";
import { ParametersBar } from "./bar";
import * as data from "./data";
import { NothingHere } from "./empty";
import { Filters } from "./filters";
import { Legend } from "./legend";
import { Parallel } from "./parallel";
import type { ParamScope } from "./scope";

type Part = { scope: ParamScope };
const Scatter = lazily<Part>(() => import("./scatter").then((found) => found.Scatter));
const ImportanceView = lazily<object>(() => import("./importance").then((found) => found.ImportanceView));
const Best = lazily<Part>(() => import("./best").then((found) => found.Best));
const ParamTableView = lazily<Part>(() => import("./table").then((found) => found.ParamTableView));

describeKeys("Parameters", {
  "/": "filter runs",
  "1 … 5": "go to a view",
  "← →": "on an axis's name: move the axis",
  Enter: "on an axis's name: ranges and scale",
  Esc: "clear all brushes",
});

const HINTS: Record<data.View, string> = {
  parallel: "Drag along an axis to keep a range, drag its name to move it, click a line to open its run.",
  scatter: "Drag in a cell to keep what is inside, click a cell to enlarge it.",
  importance: "",
  best: "Click a point to open its run.",
  table: "Brush in another view to filter, click a heading to sort.",
};

export function ParametersPage() {
  useEffect(() => data.watchParameters(), []);
  useEffect(() => {
    if (selected.value.length === 0 && data.whose.value === "chosen") data.whose.value = "all";
  }, [selected.value.length]);
  useKeys({
    ...Object.fromEntries(data.VIEWS.map((view, at) => [String(at + 1), () => (data.view.value = view)])),
    Escape: () => (data.scope.settings.brushes.value = {}),
  });
  return (
    <div class="page params">
      <ParametersBar />
      <Body />
    </div>
  );
}

function Body() {
  const table = data.table.value;
  if (data.fault.value && !table) return <ErrorState error={data.fault.value} onRetry={data.retry} />;
  if (!table) return <Waiting />;
  if (table.size === 0 || !table.columns.some((column) => column.source === "config"))
    return <NothingHere table={table} />;
  const view = data.view.value;
  return (
    <div class="page params-body" aria-busy={data.loading.value} data-view={view}>
      {view === "importance" ? null : <Filters scope={data.scope} hint={HINTS[view]} />}
      <View view={view} />
      {view === "parallel" || view === "scatter" ? <Legend scope={data.scope} /> : null}
      {table.omitted > 0 ? (
        <p class="px-4 py-2 soft small">
          The newest {table.size.toLocaleString("en-US")} runs; {table.omitted.toLocaleString("en-US")} more match.
        </p>
      ) : null}
    </div>
  );
}

function View({ view }: { view: data.View }) {
  if (view === "scatter") return <Scatter scope={data.scope} />;
  if (view === "importance") return <ImportanceView />;
  if (view === "best") return <Best scope={data.scope} />;
  if (view === "table") return <ParamTableView scope={data.scope} />;
  return <Parallel scope={data.scope} />;
}

function Waiting() {
  return (
    <div class="wait" aria-busy="true">
      <Skeleton width="60%" height={20} />
      <Skeleton width="94%" height={320} />
    </div>
  );
}
