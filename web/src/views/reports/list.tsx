/** The reports: title, project, when changed, by whom, how often shared; and the ways to begin one. */

import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useActions } from "../../actions";
import {
  Button,
  EmptyState,
  ErrorState,
  IconButton,
  Menu,
  type MenuItem,
  Skeleton,
  TextInput,
  toast,
} from "../../components";
import { ChevronDownIcon, PlusIcon, ReportIcon, ResetIcon, SearchIcon, TrashIcon } from "../../components/icons";
import { now } from "../../clock";
import { useAsker } from "../../components/use-asker";
import { ApiError, call, isAbort } from "../../lib/api";
import { count, formatAge, formatTimeZone, visibleText } from "../../lib/format";
import type { ReportRow, Reports, ReportTemplate } from "../../lib/schema";
import { linkTo } from "../../router";
import { project, selected } from "../../state";
import "../../style/report.css";
import "../../style/reports.css";
import { beginReport, NOTHING_OPEN } from "./begin";

export function ReportList() {
  const [kept, setKept] = useState<{ of: boolean; found: Reports } | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [deleted, setDeleted] = useState(false);
  const find = useSignal("");
  const asker = useAsker();
  const load = () =>
    asker.ask(String(deleted), (stop) =>
      call("POST /api/reports", { deleted }, { signal: stop }).then(
        (found) => (setKept({ of: deleted, found }), setFault(null)),
        (error: unknown) => isAbort(error) || setFault(error),
      ),
    );
  useEffect(() => void load(), [deleted]);
  // deleted ones are never shown as if they were not, nor the other way round
  const found = kept?.of === deleted ? kept.found : null;
  useActions([{ id: "report.new", title: "New report", words: "write tell share", run: () => beginReport() }]);
  if (fault && !found) return <ErrorState error={fault} onRetry={() => void load()} />;
  const rows = found?.reports.filter((row) => matches(row, find.value, project.value)) ?? [];
  return (
    <div class="page reports">
      <header class="bar reports-bar" role="toolbar" aria-label="Reports">
        <h1>{deleted ? "Deleted reports" : "Reports"}</h1>
        <TextInput
          label="Find a report"
          placeholder="Find a report"
          icon={<SearchIcon size={14} />}
          value={find.value}
          onInput={(value) => (find.value = value)}
        />
        <span class="spring" />
        <Button kind="quiet" aria-pressed={deleted} onClick={() => setDeleted(!deleted)}>
          {deleted ? "All reports" : "Deleted"}
        </Button>
        {kept && !kept.found.read_only ? <NewMenu templates={kept.found.templates} /> : null}
      </header>
      <div class="vstack fill-down scroll">
        {found === null ? (
          <Skeleton height={120} />
        ) : rows.length > 0 ? (
          <Table rows={rows} editable={!found.read_only} deleted={deleted} onChange={() => void load()} />
        ) : (
          <Nothing found={found} deleted={deleted} />
        )}
      </div>
    </div>
  );
}

const matches = (row: ReportRow, find: string, chosen: string): boolean =>
  (!chosen || !row.project || row.project === chosen) &&
  `${row.title} ${row.project} ${row.author}`.toLowerCase().includes(find.trim().toLowerCase());

function NewMenu({ templates }: { templates: readonly ReportTemplate[] }) {
  const runs = selected.value.length;
  const about = runs ? `about the ${count(runs, "selected run")}` : "about the newest runs";
  const items: MenuItem[] = templates.map((one) => ({
    key: `t:${one.name}`,
    label: (
      <span class="report-kind">
        <b>{visibleText(one.title)}</b>
        <small>{visibleText(one.about)}</small>
      </span>
    ),
    onPick: () => beginReport([], one.name),
  }));
  return (
    <Menu
      label={`New report ${about}`}
      buttonClass="button button-primary"
      align="end"
      button={
        <>
          <PlusIcon size={14} /> New report <ChevronDownIcon size={12} />
        </>
      }
      items={items}
    />
  );
}

interface TableProps {
  rows: readonly ReportRow[];
  editable: boolean;
  deleted: boolean;
  onChange(): void;
}

function Table({ rows, editable, deleted, onChange }: TableProps) {
  return (
    <table class="table-hover table reports-table">
      <thead>
        <tr>
          <th scope="col">Title</th>
          <th scope="col">Project</th>
          <th scope="col">Changed</th>
          <th scope="col">Author</th>
          <th scope="col" data-number>
            Versions
          </th>
          <th scope="col" data-number>
            Links
          </th>
          <th scope="col">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">
              {deleted ? (
                <span class="isolate">{visibleText(row.title)}</span>
              ) : (
                <a class="isolate" href={linkTo(`/report/${row.id}`, NOTHING_OPEN)}>
                  {visibleText(row.title)}
                </a>
              )}
              {row.error ? <small class="block bad isolate">{visibleText(row.error)}</small> : null}
            </th>
            <td class="isolate">{visibleText(row.project)}</td>
            <td title={formatTimeZone(row.changed)}>{formatAge(row.changed, now.value)}</td>
            <td class="isolate">{visibleText(row.author)}</td>
            <td data-number>{row.version}</td>
            <td data-number>{row.shares || ""}</td>
            <td data-number>{editable ? <Act row={row} deleted={deleted} onChange={onChange} /> : null}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Act({ row, deleted, onChange }: { row: ReportRow; deleted: boolean; onChange(): void }) {
  const title = visibleText(row.title);
  if (deleted) {
    return (
      <IconButton label={`Restore ${title}`} onClick={() => void moved("POST /api/report/restore", row, onChange)}>
        <ResetIcon size={14} />
      </IconButton>
    );
  }
  return (
    <IconButton label={`Delete ${title}`} onClick={() => void moved("POST /api/report/delete", row, onChange)}>
      <TrashIcon size={14} />
    </IconButton>
  );
}

/**
 * A deleted report can be brought back, so deleting does not ask; what cannot is a link that was given away, so that is
 * told.
 */
async function moved(
  route: "POST /api/report/delete" | "POST /api/report/restore",
  row: ReportRow,
  then: () => void,
): Promise<void> {
  try {
    await call(route, { id: row.id });
    const lost = row.shares > 0 ? ` Its ${count(row.shares, "link")} stopped working.` : "";
    const undo = { label: "Undo", onPick: () => void moved("POST /api/report/restore", row, then) };
    if (route.endsWith("delete")) toast(`Deleted.${lost}`, "info", visibleText(row.title), undefined, undo);
    else toast("Restored", "info", visibleText(row.title));
    then();
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    toast(fault.message, "error", visibleText(row.title));
  }
}

function Nothing({ found, deleted }: { found: Reports; deleted: boolean }) {
  if (deleted) return <EmptyState title="Nothing was deleted" icon={TrashIcon} />;
  if (found.reports.length > 0) return <EmptyState title="No report matches" icon={SearchIcon} />;
  return (
    <EmptyState title="Tell others what you found" icon={ReportIcon}>
      <p>
        A report is text with live charts, tables, images and findings of your runs. It can be sent as one file that
        works offline, or read by a link.
      </p>
      {found.read_only ? (
        <p>This server is read-only: reports cannot be written here.</p>
      ) : (
        <p class="state-actions">
          <Button kind="primary" onClick={() => beginReport([], found.templates[0]?.name)}>
            {selected.value.length
              ? `Make a report of the ${count(selected.value.length, "selected run")}`
              : "Make a report of the newest runs"}
          </Button>
          <Button onClick={() => beginReport([], "blank")}>Start with an empty page</Button>
        </p>
      )}
      <p class="quiet">
        From the command line: <code>stepscope report RUN… -o report.html</code>
      </p>
    </EmptyState>
  );
}
