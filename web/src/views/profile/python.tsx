/**
 * The Python calls of a profile as an icicle or a flame, with the functions beside it. docs/python_views.md is its
 * manual.
 */

import { Segments } from "../../components/segments";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { EmptyState, ErrorState, Skeleton } from "../../components";
import { describeKeys } from "../../components/help";
import { useKeys } from "../../keys";
import { visibleText } from "../../lib/format";
import { functionsSheet } from "../../lib/icicle-sheet";
import "../../style/timeline.css";
import "../../style/icicle.css";
import { Tables } from "./answers";
import * as data from "./data";
import { Picture } from "./python/picture";
import { PythonState, type Spot } from "./python/state";
import { ChosenFrame, Crumbs, Toolbar } from "./python/toolbar";
import { SheetTable } from "./sheet";

describeKeys("Python", {
  "/": "find functions",
  "↑ ↓ ← →": "to callers, callees and neighbors",
  Enter: "zoom in on it",
  "⌫": "one step back",
  i: "callers or callees",
  f: "flame or icicle",
});

export function PythonView({ run, profile, rank }: Spot) {
  const state = useMemo(() => new PythonState({ run, profile, rank }), [run, profile, rank]);
  const shown = useSignal<"tree" | "tables">("tree");
  useEffect(() => (void state.load(), () => state.close()), [state]);
  useKeys({
    i: () => state.turnTo(state.direction.value === "callees" ? "callers" : "callees"),
    f: () => (state.flame.value = !state.flame.value),
  });
  const sources = state.sources.value;
  const tables = (data.page.value?.page.tabs.find((tab) => tab.id === "python")?.answers ?? []).filter(
    (one) => one.kind === "sheet" || one.kind === "failed",
  );
  if (state.fault.value && !state.stack.value)
    return <ErrorState error={state.fault.value} onRetry={() => void state.load()} />;
  if (sources && sources.length === 0 && tables.length === 0) return <NoStacks failed={state.failed.value} />;
  const onTables = shown.value === "tables" || sources?.length === 0;
  return (
    <div class="vstack gap-2 fill-down python-view">
      {tables.length > 0 && sources && sources.length > 0 ? (
        <Segments
          look="pills"
          label="Show"
          value={onTables ? "tables" : "tree"}
          options={SHOWN}
          onChange={(one) => (shown.value = one)}
        />
      ) : null}
      {onTables ? <Tables spot={{ run, profile, rank }} offered={tables} fill /> : <TreeView state={state} />}
    </div>
  );
}

const SHOWN = [
  { value: "tree", label: "Call tree" },
  { value: "tables", label: "Tables" },
] as const;

function TreeView({ state }: { state: PythonState }) {
  const tree = state.base.value;
  return (
    <div class="vstack fill-down clipped raised">
      <Toolbar state={state} />
      <Crumbs state={state} />
      <div class="fill-down icicle-body">
        <div class="vstack icicle-left">
          {tree ? <Picture state={state} /> : <Skeleton height={200} />}
          <ChosenFrame state={state} />
        </div>
        {tree ? <Functions state={state} /> : null}
      </div>
    </div>
  );
}

function Functions({ state }: { state: PythonState }) {
  const tree = state.base.value;
  const functions = state.functions.value;
  const root = state.part.value;
  const sheet = useMemo(
    () => (tree ? functionsSheet(tree, functions, root >= 0 ? (tree.total[root] as number) : tree.whole) : null),
    [tree, functions],
  );
  if (!sheet) return null;
  const pick = (row: number) => {
    const name = functions[row]?.name ?? null;
    state.focus.value = state.focus.peek() === name ? null : name;
  };
  return (
    <aside class="vstack icicle-table" aria-label="Functions">
      <SheetTable sheet={sheet} fill onRow={pick} />
    </aside>
  );
}

function NoStacks({ failed }: { failed: readonly string[] }) {
  return (
    <EmptyState title="This profile has no Python calls">
      {failed.map((why) => (
        <p key={why}>{visibleText(why)}</p>
      ))}
      <p>
        <code>stepscope profile --profiler advanced train.py</code> records them;{" "}
        <code>stepscope profile --open run.prof</code> shows those of another tool.
      </p>
    </EmptyState>
  );
}
