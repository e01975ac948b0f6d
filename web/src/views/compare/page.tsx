/** The Compare page: its bar, then one section for each question. docs/compare.md is its manual. */

import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { EmptyState, ErrorState, Skeleton, Toggle } from "../../components";
import { describeKeys } from "../../components/help";
import { ColumnsIcon } from "../../components/icons";
import { lazily } from "../../components/lazily";
import { useKeys } from "../../keys";
import type { Compared } from "../../lib/schema";
import { linkTo } from "../../router";
import { project, selected } from "../../state";
import "../../style/compare.css";
import "../../style/compare-changed.css";
import "../../style/compare-tables.css";
import "../charts/look";
import { EmptyStore } from "../runs/empty";
import { useAnswer } from "./answer";
import { CompareBar, setBy } from "./bar";
import { WhatChanged } from "./changed";
import { ComparedCharts } from "./charts";
import { CodeDiff } from "./code";
import { ConfigDiff, EnvironmentDiff } from "./facts";
import { MetricTable } from "./metric-table";
import { goTo, Section } from "./section";
import { base, broken, by, everything, fault, loadRuns, onlyDiffering, runs, stat, works } from "./state";

const MediaBoard = lazily<{ runs: readonly string[] }>(() =>
  import("../media/board").then((found) => found.MediaBoard),
);
const ProfileCompared = lazily<{ a: string; b: string }>(() =>
  import("./profile").then((found) => found.ProfileCompared),
);

const SECTIONS: readonly [string, string][] = [
  ["changed", "What changed"],
  ["metrics", "Metrics"],
  ["config", "Config"],
  ["code", "Code"],
  ["environment", "Environment"],
  ["charts", "Charts"],
  ["media", "Media"],
  ["profile", "Profile"],
];

describeKeys("Compare", { "1 … 8": "go to a section" });

/** The two runs that code and profiles are compared of: those of *What changed*, else the baseline and the next. */
function pairOf(compared: Compared | null, found: readonly [string, string] | null): readonly [string, string] | null {
  const columns = compared?.columns ?? [];
  const wanted = [works.value || found?.[0], broken.value || found?.[1]];
  const sides = wanted.map((id) => columns.find((column) => column.id === id));
  const first = sides[0] ?? columns.find((column) => column.id === base.value) ?? columns[0];
  const second = sides[1] && sides[1] !== first ? sides[1] : columns.find((column) => column !== first);
  const [a, b] = [first?.runs[0], second?.runs[0]];
  return a && b ? [a, b] : null;
}

/** The last section that begins in the upper third of what is seen. */
function sectionAt(scroller: HTMLElement): string {
  if (scroller.scrollTop > 0 && scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 2)
    return "profile";
  const line = scroller.getBoundingClientRect().top + scroller.clientHeight / 3;
  const begun = SECTIONS.filter(
    ([id]) => (document.getElementById(`compare-${id}`)?.getBoundingClientRect().top ?? Infinity) <= line,
  );
  return begun[begun.length - 1]?.[0] ?? "changed";
}

export function Compare() {
  useSignalEffect(() => void (selected.value, project.value, by.value, loadRuns()));
  useKeys(Object.fromEntries(SECTIONS.map(([id], at) => [String(at + 1), () => goTo(id)])));
  const here = useSignal("changed");
  const shown = runs.value;
  const answer = useAnswer(
    "POST /api/compare/columns",
    shown ? { runs: [...shown], by: [...by.value] } : null,
    shown ?? [],
  );
  if (fault.value && !shown) return <ErrorState error={fault.value} onRetry={() => void loadRuns()} />;
  if (!shown) return <Waiting />;
  if (shown.length === 0) return <EmptyStore />;
  if (answer.fault) {
    return (
      <div class="page compare">
        <CompareBar compared={null} />
        <ErrorState error={answer.fault} onRetry={answer.again} />
      </div>
    );
  }
  return (
    <div class="page compare in-order">
      {answer.data ? <CompareBar compared={answer.data} /> : <WaitingBar />}
      <nav class="tab-line" aria-label="Sections">
        {SECTIONS.map(([id, title]) => (
          <button key={id} type="button" aria-current={here.value === id || undefined} onClick={() => goTo(id)}>
            {title}
          </button>
        ))}
      </nav>
      <div
        class="fill-down anchor compare-scroll in-order"
        onScroll={(event) => (here.value = sectionAt(event.currentTarget))}
      >
        {answer.data && answer.data.columns.length === 0 ? <Gone /> : <Sections shown={shown} compared={answer.data} />}
      </div>
    </div>
  );
}

function Sections({ shown, compared }: { shown: readonly string[]; compared: Compared | null }) {
  const found = useSignal<readonly [string, string] | null>(null);
  const pair = pairOf(compared, found.value);
  const all = (
    <Toggle label="Show identical values" checked={everything.value} onChange={(on) => (everything.value = on)} />
  );
  const facts = { runs: shown, by: by.value, base: base.value, everything: everything.value };
  const onPair = (a: string, b: string) => ((works.value = a), (broken.value = b));
  const two = (show: (a: string, b: string) => ComponentChildren) => () =>
    pair ? show(...pair) : <p class="quiet">Select two runs.</p>;
  return (
    <>
      <Section id="changed" title="What changed" about="between two runs or groups, and what may explain their outcome">
        {() => (
          <WhatChanged
            runs={shown}
            by={by.value}
            works={works.value}
            broken={broken.value}
            onPair={onPair}
            onFound={(a, b) => (found.value = [a, b])}
          />
        )}
      </Section>
      <Section id="metrics" title="Metrics" about="against the baseline">
        {() => (
          <MetricTable
            runs={shown}
            by={by.value}
            base={base.value}
            stat={stat.value}
            onlyDiffering={onlyDiffering.value}
            onBase={(id) => (base.value = id)}
            onStat={(next) => (stat.value = next)}
            onDiffering={(on) => (onlyDiffering.value = on)}
            onBy={setBy}
          />
        )}
      </Section>
      <Section id="config" title="Config" aside={all}>
        {() => <ConfigDiff {...facts} />}
      </Section>
      <Section id="code" title="Code" about="of the two sides above">
        {two((a, b) => (
          <CodeDiff a={a} b={b} />
        ))}
      </Section>
      <Section id="environment" title="Environment" about="code, machine, packages, variables">
        {() => <EnvironmentDiff {...facts} />}
      </Section>
      <Section id="charts" title="Charts">
        {() => <ComparedCharts runs={shown} />}
      </Section>
      <Section id="media" title="Media" about="side by side at the same step">
        {() => (
          <div class="vstack clipped framed compare-media">
            <MediaBoard runs={shown} />
          </div>
        )}
      </Section>
      <Section id="profile" title="Profile" about="of the two sides above">
        {two((a, b) => (
          <ProfileCompared a={a} b={b} />
        ))}
      </Section>
    </>
  );
}

/** How many lines the bar will have is not known before its runs are: what follows waits, so that it does not move. */
function WaitingBar() {
  return (
    <div class="bar compare-bar" aria-busy="true">
      <Skeleton width="50%" height={24} />
    </div>
  );
}

function Waiting() {
  return (
    <div class="page wait compare" aria-busy="true">
      <Skeleton width="50%" height={24} />
      <Skeleton width="80%" height={160} />
      <Skeleton width="60%" height={160} />
    </div>
  );
}

function Gone() {
  return (
    <EmptyState title="The selected runs are not in this store" icon={ColumnsIcon}>
      <p>
        The link may come from another store, or the runs were deleted. <a href={linkTo("/runs")}>Select other runs</a>
      </p>
    </EmptyState>
  );
}
