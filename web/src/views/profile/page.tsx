/** The Profile page: its bar, its tabs, and the tab that is chosen. docs/profile_views.md is its manual. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { WarningIcon } from "../../components/icons";
import { describeKeys } from "../../components/help";
import { useChosenInSight } from "../../components/in-sight";
import { lazily } from "../../components/lazily";
import { useKeys } from "../../keys";
import { visibleText } from "../../lib/format";
import { onLive } from "../../lib/live";
import type { ProfilePage, ProfileTab } from "../../lib/schema";
import { project, selected } from "../../state";
import "../../style/profile.css";
import "../../style/profile-sheet.css";
import { ProfileBar } from "./bar";
import * as data from "./data";
import { DiffTab } from "./diff";
import { DamagedProfile, NoProfile, NothingHere } from "./empty";
import { Overview } from "./overview";
import { Answers } from "./answers";

const Timeline = lazily<data.Spot>(() => import("./timeline").then((found) => found.Timeline));
const PythonView = lazily<data.Spot>(() => import("./python").then((found) => found.PythonView));

describeKeys("Profile", {
  "1 … 9 0": "go to a tab",
  "/": "filter the table",
  "↑ ↓": "to the next row",
  "← →": "close or open a row of a tree",
  Enter: "all of a row",
});

const NAMES: Record<data.Tab, string> = {
  overview: "Overview",
  operators: "Operators",
  kernels: "Kernels",
  modules: "Modules",
  python: "Python",
  timeline: "Timeline",
  memory: "Memory",
  data: "Data",
  ranks: "Ranks",
  diff: "Diff",
}; // prettier-ignore

/** With `only`, the profiles of that run alone, and no choice of runs; its id is in the address as `of` already. */
export function Profile({ only }: { only?: string; params?: Record<string, string> }) {
  useEffect(() => data.leave, []);
  useSignalEffect(() => void (only ? data.loadOnly(only) : (project.value, selected.value, data.loadRuns())));
  useSignalEffect(() => void (data.run.value, data.runs.peek() && data.loadProfiles()));
  useSignalEffect(() => void data.loadPage());
  useEffect(() => onLive(data.onChange), []);
  useKeys({
    "/": () => document.querySelector<HTMLInputElement>(".timeline-find-box input, .sheet-filter input")?.focus(),
    // On a run's page the numbers are its own parts.
    ...Object.fromEntries(
      (only ? [] : data.TABS).map((tab, at) => [String((at + 1) % 10), () => (data.tab.value = tab)]),
    ),
  });
  return (
    <div class="page profile">
      <ProfileBar alone={only !== undefined} />
      <Body />
    </div>
  );
}

function Body() {
  const listed = data.listed.value;
  const chosen = data.chosen.value;
  if (data.fault.value) return <ErrorState error={data.fault.value} onRetry={() => void data.loadRuns()} />;
  if (listed && !chosen) return <NoProfile run={listed.run} />;
  if (chosen?.error) return <DamagedProfile profile={chosen} />;
  if (data.pageFault.value) return <ErrorState error={data.pageFault.value} onRetry={() => void data.loadPage()} />;
  const shown = data.page.value;
  if (!shown) return <Waiting />;
  return (
    <>
      <Tabs page={shown.page} />
      {shown.page.damaged ? <Damage why={shown.page.damaged} /> : null}
      <div
        class="page scroll profile-body"
        role="tabpanel"
        aria-label={NAMES[data.tab.value]}
        aria-busy={data.loading.value}
        data-tab={data.tab.value}
      >
        <TabBody spot={data.spotOf(shown)} page={shown.page} />
      </div>
    </>
  );
}

function Damage({ why }: { why: string }) {
  return (
    <p class="hstack gap-2 banner isolate profile-damage" data-tone="warn" role="alert">
      <WarningIcon size={14} /> {visibleText(why)}
    </p>
  );
}

function Tabs({ page }: { page: ProfilePage }) {
  const row = useRef<HTMLDivElement>(null);
  useChosenInSight(row, data.tab.value);
  return (
    <div ref={row} class="tab-line" role="tablist" aria-label="Parts of the profile">
      {data.TABS.map((name) => {
        const empty = name === "diff" ? "" : (page.tabs.find((one) => one.id === name)?.why ?? "");
        return (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={data.tab.value === name}
            data-empty={empty !== "" || undefined}
            title={empty || undefined}
            onClick={() => (data.tab.value = name)}
          >
            {NAMES[name]}
          </button>
        );
      })}
    </div>
  );
}

function TabBody({ spot, page }: { spot: data.Spot; page: ProfilePage }) {
  const name = data.tab.value;
  const tab: ProfileTab = page.tabs.find((one) => one.id === name) ?? { id: name, answers: [], why: "" };
  if (name === "diff") return <DiffTab spot={spot} />;
  const full = data.TABS.filter(
    (one) => one !== name && (page.tabs.find(({ id }) => id === one)?.answers.length ?? 0) > 0,
  );
  const others = full.map((one) => ({ name: NAMES[one], onGo: () => (data.tab.value = one) }));
  const nothing = <NothingHere tab={NAMES[name]} why={tab.why} others={others} />;
  if (name === "overview") return <Overview spot={spot} page={page} tab={tab} nothing={nothing} />;
  if (tab.answers.length === 0) return nothing;
  if (name === "timeline") return <Timeline key={`${spot.run} ${spot.profile} ${spot.rank}`} {...spot} />;
  if (name === "python") return <PythonView key={`${spot.run} ${spot.profile} ${spot.rank}`} {...spot} />;
  return <Answers key={name} spot={spot} tab={tab} />;
}

function Waiting() {
  return (
    <div class="wait" aria-busy="true">
      <Skeleton width={420} height={24} />
      <Skeleton width="80%" height={160} />
      <Skeleton width="60%" height={20} />
    </div>
  );
}
