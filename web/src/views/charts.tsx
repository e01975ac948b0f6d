/** One panel per metric for the chosen runs. docs/charts.md is its manual. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { EmptyState, ErrorState, Skeleton } from "../components";
import { describeKeys } from "../components/help";
import { ChartIcon, SearchIcon } from "../components/icons";
import { panelId } from "../lib/chart-sections";
import { liveState } from "../lib/live";
import { useKeys } from "../keys";
import type { PageDef } from "../router";
import { linkTo } from "../router";
import { chartRuns, known, project, selected, setSelected } from "../state";
import "../style/charts.css";
import "../style/charts-media.css";
import "../style/charts-panels.css";
import "../style/charts-text.css";
import { held, releaseHover } from "./charts/hover";
import * as model from "./charts/model";
import { Panel } from "./charts/panel";
import { RunList } from "./charts/run-list";
import { PinnedSection, SectionView } from "./charts/sections";
import * as settings from "./charts/settings";
import { Toolbar } from "./charts/toolbar";
import { ChartTooltip } from "./charts/tooltip";
import { EmptyStore } from "./runs/empty";

describeKeys("Charts", {
  "/": "find panels",
  "0": "reset the zoom",
  "← →": "on a panel: pan",
  "+ −": "on a panel: zoom",
  l: "on a panel: log y",
  p: "on a panel: pin it to the top",
  f: "on a panel: enlarge it",
});

function Charts() {
  useEffect(() => model.followLive(), []);
  const lost = liveState.value.kind === "retrying";
  useEffect(() => {
    if (!lost) model.catchUp();
  }, [lost]);
  useEffect(() => releaseHover, []);
  useSignalEffect(() => {
    if (selected.value.length === 0) void (project.value, model.loadNewest());
    else void model.loadNames();
  });
  useSignalEffect(() => void (chartRuns.value, model.loadPanels()));
  useKeys({
    Escape: () => {
      if (held.value) releaseHover();
      else settings.enlarged.value = "";
    },
  });
  const error = model.fault.value;
  const panels = model.panels.value;
  if (error && panels === null) return <ErrorState error={error} onRetry={retry} />;
  if (panels === null) return <Waiting />;
  if (chartRuns.value.length === 0) return <EmptyStore />;
  return (
    <div class="charts" style={{ "--panel-height": `${settings.HEIGHTS[settings.size.value]}px`, "--panel-width": `${settings.WIDTHS[settings.size.value]}px`, "--columns": settings.columns.value || undefined }} data-columns={settings.columns.value || undefined}>
      <RunList />
      <div class="charts-main">
        <Toolbar />
        {error ? (
          <p class="charts-fault" role="alert">
            {error.message}{" "}
            <button type="button" class="link" onClick={retry}>
              Try again
            </button>
          </p>
        ) : null}
        <div class="charts-scroll">{panels.length === 0 ? <NoMetrics /> : model.matched.value === 0 ? <NoMatch /> : <Sections />}</div>
      </div>
      <Enlarged />
      <ChartTooltip />
    </div>
  );
}

function retry(): void {
  void model.loadNewest();
  model.catchUp();
}

function Sections() {
  return (
    <>
      <PinnedSection />
      {model.sectionList.value.map((section) => (
        <SectionView key={section.name} section={section} />
      ))}
    </>
  );
}

function Enlarged() {
  const place = useRef<HTMLDivElement>(null);
  const id = settings.enlarged.value;
  const info = model.panels.value?.find((p) => panelId(p) === id);
  useEffect(() => {
    if (!info) return;
    const before = document.activeElement;
    place.current?.querySelector<HTMLElement>(".panel")?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, [info === undefined]);
  if (!info) return null;
  const close = () => (settings.enlarged.value = "");
  return (
    <div ref={place} class="enlarged" role="dialog" aria-modal="true" aria-label={info.key} onClick={(event) => event.target === event.currentTarget && close()}>
      <Panel key={id} info={info} large />
    </div>
  );
}

function Waiting() {
  return (
    <div class="charts" aria-busy="true">
      <aside class="run-list">
        {[70, 85, 60, 75].map((w) => (
          <Skeleton key={w} width={`${w}%`} />
        ))}
      </aside>
      <div class="charts-main" />
    </div>
  );
}

function NoMetrics() {
  if (selected.value.length > 0 && !selected.value.some((id) => known.value.has(id))) {
    return (
      <EmptyState title="The chosen runs are not in this store" icon={<ChartIcon size={24} />}>
        <p>The link may come from another store, or the runs were deleted.</p>
        <button type="button" class="link" onClick={() => setSelected([])}>
          Draw the newest runs
        </button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="These runs have logged nothing to draw" icon={<ChartIcon size={24} />}>
      <p>
        A chart appears with the first <code>run.log({"{…}"})</code>. <a href={linkTo("/runs")}>Choose other runs</a>
      </p>
    </EmptyState>
  );
}

function NoMatch() {
  return (
    <EmptyState title="No panel matches the search" icon={<SearchIcon size={24} />}>
      <p>
        None of the {model.panels.value?.length} panels is named like <code class="isolate">{settings.find.value}</code>.
      </p>
      <button type="button" class="link" onClick={() => (settings.find.value = "")}>
        Show all panels
      </button>
    </EmptyState>
  );
}

export default { path: "/charts", title: "Charts", nav: true, order: 20, Page: Charts } satisfies PageDef;
