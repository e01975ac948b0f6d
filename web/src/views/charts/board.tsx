/** A toolbar and the panels of some runs: the Charts page below its run list, and the charts of one run. */

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { EmptyState, ErrorState, Skeleton } from "../../components";
import { SearchIcon } from "../../components/icons";
import { liveState } from "../../lib/live";
import type { PanelInfo } from "../../lib/schema";
import { useKeys } from "../../keys";
import type { ComponentChildren } from "preact";
import { Enlarged } from "./enlarged";
import { columnsIn } from "./foresee";
import { GroupLegend } from "./group-legend";
import { held, releaseHover } from "./hover";
import "./look";
import { ChartScope, ScopeContext, useScope } from "./scope";
import { PinnedSection, SectionView } from "./sections";
import { addressSettings, type ChartSettings, HEIGHTS, WIDTHS } from "./settings";
import { Toolbar } from "./toolbar";
import { ChartTooltip } from "./tooltip";
import { OwnSections } from "../workspace/own-sections";
import { columnsThatFit } from "../workspace/space";

export interface ChartBoardProps {
  runs: readonly string[];
  /** Where the layout is kept: in the address, unless the board is one of several on a page. */
  settings?: ChartSettings;
  /** Which panels belong here; read once. */
  accept?: (info: PanelInfo) => boolean;
  /** Which panels, in which sections and order; read once, instead of `accept`. */
  arrange?: (panels: readonly PanelInfo[]) => PanelInfo[];
  /** What stands there when the runs have no panel of this kind. */
  empty: ComponentChildren;
}

/** Charts of the given runs, with their own scope. */
export function ChartBoard({ runs, settings = addressSettings, accept, arrange, empty }: ChartBoardProps) {
  const shown = useSignal(runs);
  if (shown.peek().join() !== runs.join()) shown.value = runs;
  const scope = useMemo(
    () => new ChartScope(shown, settings, { ...(accept ? { accept } : {}), ...(arrange ? { arrange } : {}) }),
    [settings],
  );
  useEffect(() => () => scope.close(), [scope]);
  useFollowing(scope, shown);
  const error = scope.fault.value;
  const panels = scope.panels.value;
  if (error && panels === null) return <ErrorState error={error} onRetry={() => scope.catchUp()} />;
  if (panels === null) return <Waiting />;
  return (
    <ScopeContext.Provider value={scope}>
      <div class="charts" {...layout(settings)}>
        <BoardBody onRetry={() => scope.catchUp()} empty={empty} />
      </div>
    </ScopeContext.Provider>
  );
}

/** Keeps a scope of its own fresh: its panels, its live data, and what it missed. */
export function useFollowing(scope: ChartScope, runs: ReadonlySignal<readonly string[]>, panels = true): void {
  useEffect(() => scope.followLive(panels), [scope]);
  const lost = liveState.value.kind === "retrying";
  useEffect(() => {
    if (!lost) scope.catchUp();
  }, [scope, lost]);
  useSignalEffect(() => {
    if (runs.value && panels) void scope.loadPanels();
  });
}

/** How large panels are, as style. */
export function layout(settings: ChartSettings) {
  return { style: { "--panel-height": `${HEIGHTS[settings.size.value]}px` } };
}

/** Toolbar, sections, and what floats over them. */
export function BoardBody({ onRetry, empty }: { onRetry(): void; empty: ComponentChildren }) {
  const { fault, panels, matched, settings } = useScope();
  const scroll = useRef<HTMLDivElement>(null);
  useColumns(scroll, WIDTHS[settings.size.value]);
  useEffect(() => releaseHover, []);
  useKeys({
    Escape: () => {
      if (held.value) releaseHover();
      else settings.enlarged.value = "";
    },
  });
  return (
    <>
      <div class="vstack anchor charts-main">
        <Toolbar />
        <GroupLegend />
        {fault.value ? (
          <p class="banner" data-tone="bad" role="alert">
            {fault.value.message}{" "}
            <button type="button" class="link" onClick={onRetry}>
              Try again
            </button>
          </p>
        ) : null}
        <div ref={scroll} class="charts-scroll">
          {panels.value?.length === 0 ? empty : matched.value === 0 ? <NoMatch /> : <Sections />}
        </div>
      </div>
      <Enlarged />
      <ChartTooltip />
    </>
  );
}

/** Counts the columns that fit before anything is painted, and again when the width changes. */
function useColumns(scroll: { current: HTMLElement | null }, panel: number): void {
  useLayoutEffect(() => {
    const element = scroll.current;
    if (!element) return;
    const count = () => {
      const { paddingLeft, paddingRight } = getComputedStyle(element);
      const room = element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      columnsThatFit.value = columnsIn(room, panel);
    };
    count();
    const observer = new ResizeObserver(count);
    observer.observe(element);
    return () => observer.disconnect();
  }, [panel]);
}

function Sections() {
  const scope = useScope();
  return (
    <>
      <PinnedSection />
      {scope.arranged ? <OwnSections /> : null}
      {scope.sectionList.value.map((section) => (
        <SectionView key={section.name} section={section} />
      ))}
    </>
  );
}

export function Waiting() {
  return (
    <div class="charts" aria-busy="true">
      <aside class="vstack gap-2 subtle run-list">
        {[70, 85, 60, 75].map((w) => (
          <Skeleton key={w} width={`${w}%`} />
        ))}
      </aside>
      <div class="vstack anchor charts-main" />
    </div>
  );
}

function NoMatch() {
  const { panels, settings } = useScope();
  return (
    <EmptyState title="No panel matches the search" icon={SearchIcon}>
      <p>
        None of the {panels.value?.length} panels is named like <code class="isolate">{settings.find.value}</code>.
      </p>
      <button type="button" class="link" onClick={() => (settings.find.value = "")}>
        Show all panels
      </button>
    </EmptyState>
  );
}
