/** What the step cost, summed up by module, line of source, kind of op or phase. */

import { useMemo, useState } from "preact/hooks";
import { ErrorState, Skeleton } from "../../../components";
import { ChevronDownIcon, ChevronRightIcon } from "../../../components/icons";
import { Segments } from "../../../components/segments";
import { count, formatBytes, visibleText } from "../../../lib/format";
import { formatCount, formatMicros } from "../../../lib/graph-words";
import type { CostRow } from "../../../lib/schema";
import { useAnswer } from "../answer";
import type { Recording } from "./data";
import { Amount } from "./pieces";
import * as settings from "./settings";

const BY: readonly { value: settings.CostsBy; label: string }[] = [
  { value: "module", label: "Module" },
  { value: "line", label: "Line" },
  { value: "type", label: "Kind of op" },
  { value: "phase", label: "Phase" },
];
const MOST_ROWS = 400;
const OPEN_LEVELS = 3;

export function Costs({ recording }: { recording: Recording }) {
  const by = settings.costsBy.value;
  const { answer, fault, waiting, again } = useAnswer("POST /api/step/costs", { ...recording, by });
  return (
    <div class="page">
      <div class="hstack wraps rigid step-costs-bar">
        <Segments label="Sum up by" value={by} options={BY} onChange={(value) => (settings.costsBy.value = value)} />
        <span class="quiet">
          {by === "module"
            ? "A module's numbers hold those of the modules inside it."
            : by === "line"
              ? "Backward counts for the line of its forward."
              : ""}
        </span>
      </div>
      {fault ? (
        <ErrorState error={fault} onRetry={again} />
      ) : answer && !waiting ? (
        <CostTable key={by} rows={answer.rows} tree={by === "module"} />
      ) : (
        <Skeleton height={120} />
      )}
    </div>
  );
}

function CostTable({ rows, tree }: { rows: readonly CostRow[]; tree: boolean }) {
  const [shut, setShut] = useState<ReadonlySet<number>>(() => startShut(rows, tree));
  const [most, setMost] = useState(MOST_ROWS);
  const shown = useMemo(() => (tree ? openRows(rows, shut) : rows.map((_, at) => at)), [rows, tree, shut]);
  const largest = useMemo(
    () => ({
      time: most1(rows, "time_us"),
      flops: most1(rows, "flops"),
      saved: most1(rows, "saved_bytes"),
      params: most1(rows, "params"),
    }),
    [rows],
  );
  const hasParams = rows.some((row) => row.params);
  const toggle = (at: number) => {
    const next = new Set(shut);
    if (!next.delete(at)) next.add(at);
    setShut(next);
  };
  return (
    <div
      class="fill-down scroll over step-cost-table"
      role="grid"
      aria-label="Costs"
      data-params={hasParams || undefined}
      tabIndex={0}
    >
      <div class="rows-head step-cost-row step-head" role="row">
        {["", "Ops", ...(hasParams ? ["Parameters"] : []), "Time", "FLOPs", "Saved"].map((label, at) => (
          <span key={at} role="columnheader" class={at > 0 ? "number" : undefined}>
            {label || BY.find((one) => one.value === settings.costsBy.value)?.label}
          </span>
        ))}
      </div>
      {shown.slice(0, most).map((at) => {
        const row = rows[at] as CostRow;
        const inner = tree && (rows[at + 1]?.level ?? 0) > (row.level ?? 0);
        return (
          <div key={at} class="step-cost-row" role="row">
            <span
              role="gridcell"
              class="hstack one-line step-cost-name"
              style={{ paddingLeft: `${(row.level ?? 0) * 16}px` }}
            >
              {inner ? (
                <button
                  type="button"
                  class="inline centered rigid quiet modules-caret"
                  aria-expanded={!shut.has(at)}
                  aria-label={shut.has(at) ? "Open" : "Close"}
                  onClick={() => toggle(at)}
                >
                  {shut.has(at) ? <ChevronRightIcon size={12} /> : <ChevronDownIcon size={12} />}
                </button>
              ) : tree ? (
                <span class="inline centered rigid quiet modules-caret" />
              ) : null}
              <CostName row={row} />
            </span>
            <span role="gridcell" class="number quiet">
              {row.ops ? row.ops.toLocaleString("en-US") : ""}
            </span>
            {hasParams ? <Amount value={row.params} largest={largest.params} text={formatCount} /> : null}
            <Amount value={row.time_us} largest={largest.time} text={formatMicros} />
            <Amount value={row.flops} largest={largest.flops} text={formatCount} />
            <Amount value={row.saved_bytes} largest={largest.saved} text={formatBytes} />
          </div>
        );
      })}
      {shown.length > most ? (
        <button type="button" class="none link" onClick={() => setMost(most + 2000)}>
          {count(shown.length - most, "more row")}
        </button>
      ) : null}
    </div>
  );
}

function CostName({ row }: { row: CostRow }) {
  const words = (
    <span class="isolate ellipsis" title={visibleText(row.path ?? row.label)}>
      {visibleText(row.label)}
    </span>
  );
  const by = settings.costsBy.value;
  const pick = () => {
    settings.clearFilters();
    if (by === "module") settings.module.value = row.path ?? "";
    else if (by === "type") settings.kind.value = row.label;
    else if (by === "phase") settings.phase.value = row.label;
    else settings.search.value = row.label;
    settings.view.value = "ops";
  };
  return (
    <>
      <button type="button" class="link" title="Its ops" onClick={pick}>
        {words}
      </button>
      {row.type && row.type !== row.label ? <span class="quiet isolate">{visibleText(row.type)}</span> : null}
      {row.mark ? <span class="badge isolate step-tag">{visibleText(row.mark)}</span> : null}
      {row.source ? <span class="quiet mono isolate ellipsis">{visibleText(row.source)}</span> : null}
    </>
  );
}

function most1(rows: readonly CostRow[], name: "time_us" | "flops" | "saved_bytes" | "params"): number {
  return rows.reduce((most, row) => Math.max(most, row[name] ?? 0), 0);
}

/** Deep trees begin closed below the third level. */
function startShut(rows: readonly CostRow[], tree: boolean): Set<number> {
  const shut = new Set<number>();
  if (tree && rows.length > 60) rows.forEach((row, at) => (row.level ?? 0) >= OPEN_LEVELS - 1 && shut.add(at));
  return shut;
}

function openRows(rows: readonly CostRow[], shut: ReadonlySet<number>): number[] {
  const seen: number[] = [];
  let below = Infinity;
  rows.forEach((row, at) => {
    const level = row.level ?? 0;
    if (level > below) return;
    below = shut.has(at) ? level : Infinity;
    seen.push(at);
  });
  return seen;
}
