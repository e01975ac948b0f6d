/** What is compared: the chosen runs as chips, more by search, groups, and the baseline. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button, IconButton, Popover, Select, StatusDot, TextInput } from "../../components";
import { CloseIcon, PlusIcon, ReportIcon, SearchIcon } from "../../components/icons";
import { now } from "../../clock";
import { ApiError, call } from "../../lib/api";
import { count, cutMiddle, formatAge, nameText, visibleText } from "../../lib/format";
import type { Compared, RunRow } from "../../lib/schema";
import { linkTo } from "../../router";
import { hovered, project, remember, selected, selectedSet, setSelected, toggleSelected } from "../../state";
import { beginReport } from "../reports/begin";
import { ByPicker } from "./by-picker";
import { ColumnName, labelOf, useColours } from "./column-name";
import { base, broken, by, leftOut, runs, works } from "./state";

const MOST_CHIPS = 12;

export function CompareBar({ compared }: { compared: Compared | null }) {
  const columns = compared?.columns ?? [];
  const colours = useColours(compared);
  const all = useSignal(false);
  const chosen = selected.value.length > 0;
  const grouped = (compared?.by.length ?? 0) > 0;
  const shown = all.value ? columns : columns.slice(0, MOST_CHIPS);
  return (
    <div class="bar compare-bar" role="toolbar" aria-label="What is compared">
      <div class="hstack wraps fill compare-chips" onPointerLeave={() => (hovered.value = null)}>
        {shown.map((column) => (
          <span
            key={column.id}
            class="inline gap-1 small subtle compare-chip"
            onPointerEnter={() => (hovered.value = colours.get(column.id) ?? null)}
          >
            {grouped ? (
              <ColumnName column={column} colour={colours.get(column.id)} />
            ) : (
              <a
                class="chip-link"
                href={linkTo(`/run/${encodeURIComponent(column.id)}`)}
                title={`Open ${labelOf(column)}`}
              >
                <ColumnName column={column} colour={colours.get(column.id)} />
              </a>
            )}
            {chosen && !grouped ? (
              <button
                type="button"
                class="inline centered rigid quiet chip-remove"
                aria-label={`Leave out ${labelOf(column)}`}
                onClick={() => toggleSelected(column.id, false)}
              >
                <CloseIcon size={10} />
              </button>
            ) : null}
          </span>
        ))}
        {columns.length > shown.length ? (
          <button type="button" class="link" onClick={() => (all.value = true)}>
            {columns.length - shown.length} more
          </button>
        ) : null}
        <AddRuns />
        {chosen ? (
          <Button kind="quiet" onClick={() => setSelected([])}>
            Clear
          </Button>
        ) : (
          <span class="quiet">{standInWords(grouped)}</span>
        )}
      </div>
      <div class="hstack rigid compare-choices">
        <ByPicker value={by.value} onChange={setBy} />
        {columns.length > 1 ? (
          <label class="inline gap-2 compare-base">
            <span class="quiet">Baseline</span>
            <Select
              label="Baseline"
              value={columns.some((one) => one.id === base.value) ? base.value : (columns[0]?.id ?? "")}
              options={columns.map((one) => ({ value: one.id, label: cutMiddle(labelOf(one), 32) }))}
              onChange={(id) => (base.value = id)}
            />
          </label>
        ) : null}
        <IconButton label="Make a report of these runs" onClick={() => beginReport(runs.value ?? [], "ablation")}>
          <ReportIcon />
        </IconButton>
      </div>
    </div>
  );
}

/** Columns have other ids then, so what was chosen among them is over. */
export function setBy(keys: string[]): void {
  base.value = works.value = broken.value = "";
  by.value = keys;
}

function standInWords(grouped: boolean): string {
  const amount = runs.value?.length ?? 0;
  const of = project.value ? ` of ${visibleText(project.value)}` : "";
  if (!grouped) return `The newest ${count(amount, "run")}${of}.`;
  return leftOut.value > 0
    ? `The newest ${count(amount, "run")}${of}; ${leftOut.value.toLocaleString("en-US")} older ones are left out.`
    : `All ${count(amount, "run")}${of}.`;
}

function AddRuns() {
  const open = useSignal(false);
  const anchor = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="button button-quiet"
        aria-haspopup="dialog"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <PlusIcon size={13} /> {selected.value.length ? "Add" : "Choose runs"}
      </button>
      {open.value ? (
        <Popover anchor={anchor.current} label="Add runs" class="add-runs" onClose={() => (open.value = false)}>
          <Finder />
        </Popover>
      ) : null}
    </>
  );
}

const FOUND = 30;

/** Runs by a part of their name, or by a query. */
function Finder() {
  const search = useSignal("");
  const rows = useSignal<readonly RunRow[] | null>(null);
  const matched = useSignal(0);
  const fault = useSignal("");
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      find(search.value, stop.signal).then(
        (found) => {
          remember(found.rows);
          rows.value = found.rows;
          matched.value = found.matched;
          fault.value = "";
        },
        (error: unknown) => {
          if (!stop.signal.aborted) fault.value = error instanceof Error ? error.message : String(error);
        },
      );
    }, 150);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [search.value, project.value]);
  return (
    <>
      <div class="px-2 py-2 under picker-search">
        <TextInput
          label="Find runs"
          placeholder="Name, or a query: config.lr < 0.01"
          icon={<SearchIcon size={14} />}
          value={search.value}
          inputRef={(input) => input?.focus()}
          onInput={(text) => (search.value = text)}
        />
      </div>
      {fault.value ? (
        <p class="none isolate" role="alert">
          {fault.value}
        </p>
      ) : null}
      <div class="add-list" role="group" aria-label="Runs found">
        {(rows.value ?? []).map((row) => (
          <label key={row.id} class="option add-run">
            <input
              type="checkbox"
              checked={selectedSet.value.has(row.id)}
              onChange={(event) => toggleSelected(row.id, event.currentTarget.checked)}
            />
            <span class="isolate ellipsis">{nameText(row.name)}</span>
            <StatusDot status={row.status} word={false} />
            <span class="quiet">{formatAge(row.created, now.value)}</span>
          </label>
        ))}
        {rows.value?.length === 0 ? <p class="none">No run matches that name.</p> : null}
        {matched.value > FOUND ? (
          <p class="none">{(matched.value - FOUND).toLocaleString("en-US")} more: type to find them.</p>
        ) : null}
      </div>
    </>
  );
}

const text = (value: string): string => `"${value.replace(/[\\"]/g, "\\$&")}"`;

/** First as a query; what is none is taken as a part of a name. */
async function find(typed: string, signal: AbortSignal) {
  const wanted = typed.trim();
  const inProject = project.peek() ? `project = ${text(project.peek())}` : "";
  const ask = (query: string) =>
    call(
      "POST /api/runs",
      {
        query: [inProject, query && inProject ? `(${query})` : query].filter(Boolean).join(" and "),
        sort: "created",
        descending: true,
        limit: FOUND,
      },
      { signal },
    );
  if (wanted === "") return ask("");
  if (/[=<>~]/.test(wanted)) {
    try {
      return await ask(wanted);
    } catch (error) {
      if (!(error instanceof ApiError) || error.position === null) throw error;
    }
  }
  return ask(`name ~ ${text(wanted)}`);
}
