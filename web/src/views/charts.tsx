/** One panel per metric for the chosen runs. docs/charts.md is its manual. */

import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { EmptyState, ErrorState } from "../components";
import { describeKeys } from "../components/help";
import { ChartIcon } from "../components/icons";
import { liveState } from "../lib/live";
import type { PageDef } from "../router";
import { linkTo } from "../router";
import { chartRuns, known, project, selected, setSelected } from "../state";
import { BoardBody, layout, Waiting } from "./charts/board";
import * as model from "./charts/model";
import { RunList } from "./charts/run-list";
import { ScopeContext } from "./charts/scope";
import { EmptyStore } from "./runs/empty";

describeKeys("Charts", {
  "/": "find panels",
  "0": "reset the zoom",
  "← →": "on a panel: pan",
  "+ −": "on a panel: zoom",
  l: "on a panel: log y",
  p: "on a panel: pin it to the top",
  f: "on a panel: enlarge it",
  a: "add a panel",
  "Alt ←→↑↓": "on a panel of your own: move it",
  "Shift ←→↑↓": "on a panel: size it",
  Delete: "on a panel: remove or hide it",
});

function Charts() {
  const scope = model.pageScope;
  useEffect(() => model.followLive(), []);
  const lost = liveState.value.kind === "retrying";
  useEffect(() => {
    if (!lost) model.catchUp();
  }, [lost]);
  useSignalEffect(() => {
    if (selected.value.length === 0) void (project.value, model.loadNewest());
    else void model.loadNames();
  });
  useSignalEffect(() => void (chartRuns.value, model.loadPanels()));
  const error = scope.fault.value;
  const panels = scope.panels.value;
  if (error && panels === null) return <ErrorState error={error} onRetry={retry} />;
  if (panels === null) return <Waiting />;
  if (chartRuns.value.length === 0) return <EmptyStore />;
  return (
    <ScopeContext.Provider value={scope}>
      <div class="charts" {...layout(scope.settings)}>
        <RunList />
        <BoardBody onRetry={retry} empty={<NoMetrics />} />
      </div>
    </ScopeContext.Provider>
  );
}

function retry(): void {
  void model.loadNewest();
  model.catchUp();
}

function NoMetrics() {
  if (selected.value.length > 0 && !selected.value.some((id) => known.value.has(id))) {
    return (
      <EmptyState title="The selected runs are not in this store" icon={ChartIcon}>
        <p>The link may come from another store, or the runs were deleted.</p>
        <button type="button" class="link" onClick={() => setSelected([])}>
          Draw the newest runs
        </button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="These runs have no metrics to plot" icon={ChartIcon}>
      <p>
        A chart appears with the first <code>run.log({"{…}"})</code>. <a href={linkTo("/runs")}>Select other runs</a>
      </p>
    </EmptyState>
  );
}

export default { path: "/charts", title: "Charts", nav: true, order: 20, Page: Charts } satisfies PageDef;
