/**
 * Parallel coordinates, a scatter plot and importance as panels of their own, for reports: each with its own runs and
 * brushes.
 */

import { computed, signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Button, Skeleton } from "../../components";
import { call, isAbort } from "../../lib/api";
import { count, visibleText } from "../../lib/format";
import { columnOfKey, metricOfKey, type ParamColumn, type ParamTable, readTable } from "../../lib/param-table";
import type { Importance, ParametersRequest } from "../../lib/schema";
import "../../style/parameters.css";
import "../../style/parameters-more.css";
import { ImportanceBody } from "./importance";
import { Legend } from "./legend";
import { Parallel } from "./parallel";
import { LargeScatter, Scatter } from "./scatter";
import { ownSettings, ParamScope } from "./scope";

export interface ParamPanelProps {
  query?: string;
  /** Instead of a query. */
  runs?: readonly string[];
  metric?: string;
  stat?: ParametersRequest["stat"];
  goal?: "min" | "max" | null;
  /** Columns by key or name (`config.lr`, `lr`, `val/loss.min`), in order; none for the usual ones. */
  axes?: readonly string[];
  /** More metrics to have as columns. */
  metrics?: readonly string[];
}

/** What is asked for; equal for the same words, so that a shared file finds its answer. */
function requestOf({
  query = "",
  runs = [],
  metric = "",
  stat = "best",
  goal = null,
  axes = [],
  metrics = [],
}: ParamPanelProps): ParametersRequest {
  const named = [...metrics, ...axes.map(metricOfKey).filter((name) => name !== null)];
  return { query, runs: [...runs], metric, stat, goal, metrics: [...new Set(named)].filter((name) => name !== metric) };
}

function useAnswer<T>(
  ask: (stop: AbortSignal) => Promise<T>,
  what: string,
): { answer: T | null; error: string | null; retry(): void } {
  const [answer, setAnswer] = useState<T | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [again, setAgain] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    ask(stop.signal).then(
      (found) => (setAnswer(found), setError(null)),
      (fault: unknown) => isAbort(fault) || setError(fault instanceof Error ? fault.message : String(fault)),
    );
    return () => stop.abort();
  }, [what, again]);
  return { answer, error, retry: () => setAgain(again + 1) };
}

function useScope(props: ParamPanelProps): {
  scope: ParamScope | null;
  table: ParamTable | null;
  error: string | null;
  retry(): void;
} {
  const request = requestOf(props);
  const { answer, error, retry } = useAnswer(
    (stop) => call("POST /api/parameters", request, { signal: stop }),
    JSON.stringify(request),
  );
  const axes = props.axes?.join("\n") ?? "";
  const made = useMemo(() => {
    if (!answer) return null;
    const held = signal(readTable(answer));
    const named = axes === "" ? [] : axes.split("\n").map((name) => columnNamed(held.peek(), name)?.key);
    return new ParamScope(
      computed(() => held.value),
      ownSettings(named.filter((key) => key !== undefined)),
    );
  }, [answer, axes]);
  return { scope: made, table: made?.table.peek() ?? null, error, retry };
}

function Cover({ error, retry }: { error: string | null; retry(): void }) {
  if (!error)
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover panel-wait" aria-busy="true">
        <Skeleton width="60%" />
      </div>
    );
  return (
    <div class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
      <p>{error}</p>
      <Button onClick={retry}>Try again</Button>
    </div>
  );
}

function nothing(table: ParamTable): string | null {
  if (table.size === 0) return "No run matches.";
  return table.columns.some((column) => column.source === "config")
    ? null
    : `${count(table.size, "run")} with the same config.`;
}

export function ParallelPanel(props: ParamPanelProps) {
  const { scope, table, error, retry } = useScope(props);
  if (!scope || !table) return <Cover error={error} retry={retry} />;
  const why = nothing(table);
  if (why) return <p class="none">{why}</p>;
  return (
    <div class="vstack param-panel">
      <Parallel scope={scope} />
      <Legend scope={scope} />
    </div>
  );
}

export interface ScatterPanelProps extends ParamPanelProps {
  /** Two columns, by key or name: one plot instead of all pairs. */
  x?: string;
  y?: string;
}

export function ScatterPanel({ x, y, ...given }: ScatterPanelProps) {
  const named = [y, x]
    .map((name) => (name === undefined || name.startsWith("config.") ? null : metricOfKey(name)))
    .filter((name) => name !== null);
  const props = { ...given, metric: given.metric || named[0] || "", metrics: [...(given.metrics ?? []), ...named] };
  const { scope, table, error, retry } = useScope(props);
  if (!scope || !table) return <Cover error={error} retry={retry} />;
  const why = nothing(table);
  if (why) return <p class="none">{why}</p>;
  const across = x === undefined ? undefined : columnNamed(table, x);
  const up = y === undefined ? (table.metric ?? undefined) : columnNamed(table, y);
  const gone = [x !== undefined && !across ? x : null, y !== undefined && !up ? y : null].find((name) => name !== null);
  if (gone) return <p class="none">These runs have no parameter or metric “{visibleText(gone)}” that differs.</p>;
  return (
    <div class="vstack param-panel">
      {across && up ? <LargeScatter scope={scope} x={across} y={up} /> : <Scatter scope={scope} />}
      <Legend scope={scope} />
    </div>
  );
}

function columnNamed(table: ParamTable, name: string): ParamColumn | undefined {
  return (
    columnOfKey(table, name) ??
    table.byKey.get(`config.${name}`) ??
    table.columns.find((column) => column.label === name || metricOfKey(column.key) === (metricOfKey(name) ?? ""))
  );
}

export function ImportancePanel(props: ParamPanelProps) {
  const request = requestOf(props);
  const { scope, error, retry } = useScope(props);
  const found = useAnswer<Importance>(
    (stop) => call("POST /api/importance", request, { signal: stop }),
    JSON.stringify(request),
  );
  if (!scope || !found.answer) return <Cover error={error ?? found.error} retry={error ? retry : found.retry} />;
  return (
    <div class="vstack param-panel">
      <ImportanceBody found={found.answer} scope={scope} small />
    </div>
  );
}
