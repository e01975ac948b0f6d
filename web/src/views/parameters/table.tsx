/**
 * Every number: sorted by a click, filtered by the brushes of all views, saved as CSV. Only rows on the screen exist.
 */

import { useRef, useState } from "preact/hooks";
import { saveText } from "../../charts/download";
import { Button, TextInput } from "../../components";
import { ArrowDownIcon, ArrowUpIcon, DownloadIcon, SearchIcon } from "../../components/icons";
import { count, visibleText } from "../../lib/format";
import { parametersCsv, sortedRuns } from "../../lib/param-csv";
import { BROKEN, cellOf, MISSING, type ParamColumn } from "../../lib/param-table";
import { visibleSpan } from "../../lib/rows";
import { text } from "../../lib/url";
import { linkTo, param } from "../../router";
import { inkOfRun } from "../../state";
import { useSize } from "../charts/visible";
import { cellWords } from "../../lib/param-spoken";
import type { ParamScope } from "./scope";

const ROW = 32;
const HEAD = 34;
const sort = param<string>("psort", "", text, true);
const search = param<string>("pfind", "", text);

export function ParamTableView({ scope }: { scope: ParamScope }) {
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const [top, setTop] = useState(0);
  const table = scope.table.value;
  const { metric } = table;
  const columns = [...(metric ? [metric] : []), ...table.columns.filter((column) => column !== metric)];
  const wanted = search.value.trim().toLowerCase();
  const passing = scope.passing.value;
  const kept = scope.ranking.value.filter(
    (run) => passing[run] && (wanted === "" || matches(scope, columns, run, wanted)),
  );
  const runs = sortedRuns(table, kept, sort.value);
  const span = visibleSpan(top - HEAD, size?.height ?? 600, ROW, runs.length);
  const best = metric && table.goal && scope.ranking.value.length ? scope.ranking.value[0] : -1;
  return (
    <div class="param-table-view">
      <div class="hstack gap-4 small scatter-bar">
        <TextInput
          label="Find in the table"
          placeholder="Find in the table"
          icon={<SearchIcon size={14} />}
          value={search.value}
          onInput={(value) => (search.value = value)}
        />
        <span class="quiet" role="status">
          {runs.length === table.size
            ? count(runs.length, "run")
            : `${runs.length.toLocaleString("en-US")} of ${count(table.size, "run")}`}
        </span>
        <span class="spring" />
        <Button onClick={() => saveText(parametersCsv(table, runs, columns), "text/csv", "parameters.csv")}>
          <DownloadIcon size={14} />
          CSV
        </Button>
      </div>
      <div
        ref={box}
        class="fill-down scroll framed"
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        tabIndex={0}
        role="region"
        aria-label="Table of runs"
      >
        <table class="table-hover table param-table" aria-rowcount={runs.length + 1}>
          <thead>
            <tr>
              <Head name="name" label="Run" />
              <Head name="status" label="Status" />
              {columns.map((column) => (
                <Head key={column.key} name={column.key} label={column.label} number={column.kind === "number"} />
              ))}
            </tr>
          </thead>
          <tbody>
            {span.start > 0 ? <tr style={{ height: `${span.start * ROW}px` }} aria-hidden="true" /> : null}
            {Array.from(runs.slice(span.start, span.end), (run, at) => (
              <tr
                key={table.ids[run]}
                aria-rowindex={span.start + at + 2}
                data-hovered={scope.hover.value === run || undefined}
              >
                <th scope="row">
                  <span class="ink" style={inkOfRun(table.ids[run] ?? "", table.hues[run])} />
                  <a class="isolate ellipsis" href={linkTo(`/run/${table.ids[run]}`)}>
                    {visibleText(table.names[run] ?? "")}
                  </a>
                </th>
                <td>{table.statuses[run]}</td>
                {columns.map((column) => (
                  <Cell key={column.key} column={column} run={run} best={column === metric && run === best} />
                ))}
              </tr>
            ))}
            {span.end < runs.length ? (
              <tr style={{ height: `${(runs.length - span.end) * ROW}px` }} aria-hidden="true" />
            ) : null}
          </tbody>
        </table>
        {runs.length === 0 ? <p class="none">No run is left. Clear the brushes or the search.</p> : null}
      </div>
    </div>
  );
}

function matches(scope: ParamScope, columns: readonly ParamColumn[], run: number, wanted: string): boolean {
  const { names, statuses } = scope.table.peek();
  if (names[run]?.toLowerCase().includes(wanted) || statuses[run]?.includes(wanted)) return true;
  return columns.some((column) =>
    String(cellOf(column, run) ?? "")
      .toLowerCase()
      .includes(wanted),
  );
}

/** Up, then down, then back to the best first. */
function Head({ name, label, number = false }: { name: string; label: string; number?: boolean }) {
  const now = sort.value;
  const state = now === name ? "ascending" : now === `-${name}` ? "descending" : "none";
  return (
    <th scope="col" aria-sort={state} class={number ? "number" : undefined}>
      <button
        type="button"
        class="isolate ellipsis"
        title={visibleText(label)}
        onClick={() => (sort.value = state === "none" ? name : state === "ascending" ? `-${name}` : "")}
      >
        <span class="ellipsis">{visibleText(label)}</span>
        {state === "ascending" ? (
          <ArrowUpIcon size={12} />
        ) : state === "descending" ? (
          <ArrowDownIcon size={12} />
        ) : null}
      </button>
    </th>
  );
}

function Cell({ column, run, best }: { column: ParamColumn; run: number; best: boolean }) {
  const state = column.state[run];
  const number = column.kind === "number" ? "number" : undefined;
  if (state === MISSING) return <td class={`${number ?? ""} quiet`}>–</td>;
  return (
    <td
      class={number}
      data-bad={state === BROKEN || undefined}
      data-best={best || undefined}
      title={String(cellOf(column, run))}
    >
      <span class="isolate ellipsis">{cellWords(cellOf(column, run))}</span>
    </td>
  );
}
