/** Every event of a profile in time, thousands of lanes and millions of events. docs/timeline.md is its manual. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ErrorState, Skeleton } from "../../components";
import { describeKeys } from "../../components/help";
import { useKeys } from "../../keys";
import { text } from "../../lib/url";
import { param } from "../../router";
import "../../style/timeline.css";
import { Details } from "./timeline/details";
import { Stage } from "./timeline/stage";
import { TimelineState } from "./timeline/state";
import { Statistics } from "./timeline/statistics";
import { Toolbar } from "./timeline/toolbar";

describeKeys("Timeline", {
  "w s": "zoom in, zoom out",
  "a d": "earlier, later",
  "↑ ↓": "through the lanes",
  "/": "find events",
  "n N": "next or previous match",
  f: "zoom to the selected event",
  v: "drag selects or moves",
  c: "open or close all lanes",
  r: "fit to the window",
});

/** The part of the axis on the screen; of one profile only, so it goes when another is chosen. */
const time = param<string>("time", "", text);
const REST_MS = 250;

export interface TimelineProps {
  run: string;
  profile: string;
  rank: number;
}

export function Timeline({ run, profile, rank }: TimelineProps) {
  const state = useMemo(() => new TimelineState({ run, profile }, time.peek()), [run, profile, rank]);
  useEffect(() => () => void (time.value = ""), [state]);
  useSignalEffect(() => {
    const now = state.stretch();
    const rest = setTimeout(() => (time.value = now), REST_MS);
    return () => clearTimeout(rest);
  });
  const all = useSignal(false);
  const ranks = state.sources.value[0]?.page.ranks ?? [];
  useEffect(
    () => void state.load(all.value ? [rank, ...ranks.filter((one) => one !== rank)] : [rank]),
    [state, all.value],
  );
  useEffect(() => () => state.close(), [state]);
  useKeys({
    r: () => state.fitAll(),
    c: () => state.toggleAll(),
    v: () => (state.selecting.value = !state.selecting.value),
    f: () => state.chosen.value && state.show(state.chosen.value.source, state.chosen.value.event.at, true),
    Escape: () => (state.chosen.value ? state.unchoose() : void state.select(null)),
  });
  const ready = state.sources.value.length > 0;
  if (!ready && state.fault.value)
    return <ErrorState error={state.fault.value} onRetry={() => void state.load([rank])} />;
  return (
    <div class="vstack fill-down clipped raised timeline" data-ready={ready || undefined}>
      <Toolbar state={state} ranks={ranks} all={all.value} onAll={(on) => (all.value = on)} />
      {ready ? <Stage state={state} /> : <Waiting />}
      {state.fault.value && ready ? <Fault state={state} /> : null}
      <Statistics state={state} />
      <Details state={state} />
      <Notes state={state} />
    </div>
  );
}

function Waiting() {
  return (
    <div class="fill wait" aria-busy="true">
      {[70, 90, 55, 80].map((width) => (
        <Skeleton key={width} width={`${width}%`} height={18} />
      ))}
    </div>
  );
}

function Fault({ state }: { state: TimelineState }) {
  const fault = state.fault.value;
  return (
    <p class="hstack gap-2 small banner" data-tone="bad" role="alert">
      {fault instanceof Error ? fault.message : String(fault)}{" "}
      <button
        type="button"
        class="button button-quiet"
        onClick={() => ((state.fault.value = null), state.fetchVisible())}
      >
        Try again
      </button>
    </p>
  );
}

function Notes({ state }: { state: TimelineState }) {
  const notes = [...new Set(state.sources.value.flatMap(({ page }) => page.notes))];
  if (notes.length === 0) return null;
  return <p class="tiny over quiet timeline-notes">{notes.join(" · ")}</p>;
}
