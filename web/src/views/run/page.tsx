/**
 * A run's page: its head, its tabs, and the part that is chosen. Each part is a file in `parts/`, fetched when first
 * shown.
 */

import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { useActions } from "../../actions";
import { ErrorState, Skeleton } from "../../components";
import { describeKeys } from "../../components/help";
import { lazily } from "../../components/lazily";
import { useKeys } from "../../keys";
import { visibleText } from "../../lib/format";
import type { RunDetail } from "../../lib/schema";
import { go, linkTo } from "../../router";
import { toggleSelected } from "../../state";
import { useTitle } from "../../title";
import "../../style/run.css";
import "../../style/run-parts.css";
import { detail, failure, readRun, watchRun } from "./data";
import { RunHead } from "./head";
import { goPart, leavePart, part, type PartId, PARTS, TITLES } from "./place";
import { PartTabs, tabId, panelId } from "./tabs";

type Part = ComponentType<{ run: RunDetail }>;

const files = import.meta.glob<Record<string, Part>>("./parts/*.tsx");

/** `parts/console.tsx` exports `ConsolePart`. */
function partOf(id: PartId): Part {
  const load = files[`./parts/${id}.tsx`];
  return lazily<{ run: RunDetail }>(async () => {
    const found = (await load?.())?.[`${TITLES[id]}Part`];
    if (!found) throw new Error(`there is no part ${id}`);
    return found;
  });
}

/** The part's code is on its way while the run itself is asked for. */
function fetchSoon(id: PartId): void {
  files[`./parts/${id}.tsx`]?.().catch(() => undefined); // the part will say so
}

const BODIES = Object.fromEntries(PARTS.map((id) => [id, partOf(id)])) as Record<PartId, Part>;

describeKeys("Run", {
  "1 … 9": "go to a part",
  "[ ]": "to the previous or next part",
  c: "select it and go to Charts",
  Esc: "back to Runs",
});

export function RunPage({ params }: { params: Record<string, string> }) {
  const id = params.id ?? "";
  useEffect(() => watchRun(id), [id]);
  useEffect(() => fetchSoon(part.peek()), []);
  useEffect(() => leavePart, []);
  const step = (by: number) => () =>
    goPart(PARTS[(PARTS.indexOf(part.peek()) + by + PARTS.length) % PARTS.length] as PartId);
  useKeys({
    Escape: () => go("/runs"),
    c: () => (toggleSelected(id, true), go("/charts")),
    "[": step(-1),
    "]": step(1),
    ...Object.fromEntries(PARTS.slice(0, 9).map((one, at) => [String(at + 1), () => goPart(one)])),
  });
  useActions(
    PARTS.map((one, at) => ({
      id: `run-part:${one}`,
      title: `${TITLES[one]} of this run`,
      ...(at < 9 ? { keys: String(at + 1) } : {}),
      run: () => goPart(one),
    })),
  );
  const run = detail.value?.id === id ? detail.value : null;
  useTitle(run?.name || null);
  if (!run && failure.value) return <NoRun id={id} />;
  return (
    <article class="page run-page" aria-label="Run">
      {run ? <Whole key={run.id} run={run} /> : <Waiting />}
    </article>
  );
}

function Whole({ run }: { run: RunDetail }) {
  const id = part.value;
  return (
    <>
      <RunHead run={run} />
      <PartTabs run={run} />
      {failure.value ? <Stale run={run} /> : null}
      <div class="page run-body" role="tabpanel" id={panelId} aria-labelledby={tabId(id)} data-part={id} tabIndex={-1}>
        <Guarded key={id} id={id} run={run} />
      </div>
    </>
  );
}

/** The run was there, and cannot be read any more: what is known of it stays. */
function Stale({ run }: { run: RunDetail }) {
  const fault = failure.value;
  return (
    <p class="banner isolate run-stale" data-tone="warn" role="alert">
      Not up to date: {visibleText(fault instanceof Error ? fault.message : String(fault))}{" "}
      <button type="button" class="link" onClick={() => void readRun(run.id)}>
        Try again
      </button>
    </p>
  );
}

function NoRun({ id }: { id: string }) {
  return (
    <ErrorState error={failure.value} onRetry={() => void readRun(id)}>
      <a class="link" href={linkTo("/runs")}>
        All runs
      </a>
    </ErrorState>
  );
}

/** A part that breaks takes only itself along. */
function Guarded({ id, run }: { id: PartId; run: RunDetail }) {
  const [error, reset] = useErrorBoundary((fault: unknown) => console.error(fault));
  if (error) return <ErrorState error={error} title={`${TITLES[id]} broke`} onRetry={reset} />;
  const Body = BODIES[id];
  return <Body run={run} />;
}

function Waiting() {
  return (
    <div class="wait" aria-busy="true">
      <Skeleton width="34%" height={22} />
      <Skeleton width="52%" height={14} />
      <Skeleton width="100%" height={1} />
      <Skeleton width="60%" height={140} />
    </div>
  );
}
