/** The head of a run's page: name, state, tags, and what can be done with it. */

import { useRef, useState } from "preact/hooks";
import { Button, copyText, Menu, type MenuItem, StatusDot } from "../../components";
import {
  ChartIcon,
  CheckIcon,
  ChevronLeftIcon,
  ColumnsIcon,
  CopyIcon,
  FolderIcon,
  MoreIcon,
  PencilIcon,
  PlusIcon,
  ReportIcon,
  ShareIcon,
  TrashIcon,
} from "../../components/icons";
import { ARCHIVED, askDelete, setArchived } from "../../components/run-actions";
import { now } from "../../clock";
import { formatAge, formatDuration, formatTime, formatTimeZone, nameText, visibleText } from "../../lib/format";
import { toggled } from "../../lib/query-terms";
import type { RunDetail } from "../../lib/schema";
import { go, linkTo } from "../../router";
import { lookOfRun, selected, selectedSet, setSelected, signedIn, toggleSelected } from "../../state";
import { RunLinkDialog } from "../people/view-links";
import { change, TagsCell } from "../runs/tags";
import { AliveLine } from "./alive-line";
import { fetchedAt, readRun } from "./data";
import { editNotes } from "./notes";
import { beginReport } from "../reports/begin";

export function RunHead({ run }: { run: RunDetail }) {
  return (
    <header class="vstack run-head">
      <div class="hstack gap-2 run-title">
        <a class="icon-button run-back" href={linkTo("/runs")} aria-label="All runs" title="All runs (Esc)">
          <ChevronLeftIcon size={16} />
        </a>
        <span class="swatch-dot swatch-big" style={{ color: lookOfRun(run.id).colour }} />
        <Name run={run} />
        <span class="spring" />
        <Actions run={run} />
      </div>
      <Facts run={run} />
      <AliveLine run={run} />
    </header>
  );
}

function Name({ run }: { run: RunDetail }) {
  const [editing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const name = nameText(run.name);
  const close = () => {
    setEditing(false);
    queueMicrotask(() => button.current?.focus());
  };
  return (
    <>
      <h1 class="isolate" title={name} hidden={editing} onDblClick={() => run.editable && setEditing(true)}>
        {name}
      </h1>
      {editing ? <NameField run={run} onClose={close} /> : null}
      {run.editable && !editing ? (
        <button
          ref={button}
          type="button"
          class="icon-button run-rename"
          aria-label="Rename"
          title="Rename"
          onClick={() => setEditing(true)}
        >
          <PencilIcon size={13} />
        </button>
      ) : null}
    </>
  );
}

function focusAll(field: HTMLInputElement | null): void {
  if (field && document.activeElement !== field) field.select();
}

/** Enter and leaving the field save, Esc does not. What is typed stays, whatever the run does meanwhile. */
function NameField({ run, onClose }: { run: RunDetail; onClose(): void }) {
  const draft = useRef(run.name);
  const done = useRef(false);
  const finish = (save: boolean) => {
    if (done.current) return;
    done.current = true;
    const name = draft.current.trim();
    if (save && name !== "" && name !== run.name) void change({ runs: [run.id], name }).then(() => readRun(run.id));
    onClose();
  };
  return (
    <input
      ref={focusAll}
      class="px-2 shrinks strong raised run-name-field"
      aria-label="Name of the run"
      maxLength={500}
      defaultValue={run.name}
      spellcheck={false}
      onInput={(event) => (draft.current = event.currentTarget.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        // Kept from the button that gets the focus now: it would open the field again.
        if (event.key === "Enter") event.preventDefault(), finish(true);
        else if (event.key === "Escape") event.stopPropagation(), finish(false);
      }}
    />
  );
}

function Facts({ run }: { run: RunDetail }) {
  const seconds = run.status === "running" ? run.duration_s + Math.max(0, now.value - fetchedAt.value) : run.duration_s;
  return (
    <div class="hstack wraps soft run-line row-like">
      <a
        class="inline cell-filter"
        title={visibleText(run.status_detail) || `All runs that are ${run.status}`}
        href={linkTo("/runs", { q: toggled("", "status", run.status) })}
      >
        <StatusDot status={run.status} />
      </a>
      <span title={`Took ${formatDuration(seconds)}${run.ended ? `, until ${formatTime(run.ended)}` : ""}`}>
        {formatDuration(seconds)}
      </span>
      <span class="quiet" title={formatTimeZone(run.created)}>
        {formatAge(run.created, now.value)}
      </span>
      <span class="isolate quiet ellipsis run-project">
        <Fact field="project" value={run.project} />
        {run.group ? " / " : ""}
        {run.group ? <Fact field="group" value={run.group} /> : null}
        {run.environment.host ? " · " : ""}
        {run.environment.host ? <Fact field="host" value={run.environment.host} /> : null}
      </span>
      <TagsCell id={run.id} tags={run.tags} onPick={(tag) => go("/runs", { q: toggled("", "tags", tag) })} />
      {run.editable && !run.notes ? (
        <button type="button" class="inline gap-1 small quiet run-note" onClick={() => editNotes(run)}>
          <PencilIcon size={11} /> Add a note
        </button>
      ) : null}
    </div>
  );
}

/** What other runs share, as a way to them. */
function Fact({ field, value }: { field: string; value: string }) {
  return (
    <a
      class="inline cell-filter"
      title={`All runs with this ${field}`}
      href={linkTo("/runs", { q: toggled("", field, value) })}
    >
      {visibleText(value)}
    </a>
  );
}

function Actions({ run }: { run: RunDetail }) {
  const [sharing, setSharing] = useState(false);
  const chosen = selectedSet.value.has(run.id);
  const others = selected.value.filter((id) => id !== run.id).length;
  const items: MenuItem[] = [
    {
      key: "charts",
      label: "Alone on the Charts page",
      icon: <ChartIcon size={14} />,
      onPick: () => (setSelected([run.id]), go("/charts")),
    },
    { key: "report", label: "Make a report", icon: <ReportIcon size={14} />, onPick: () => beginReport([run.id]) },
    {
      key: "link",
      label: "Copy the link to this page",
      icon: <CopyIcon size={14} />,
      onPick: () => void copyText(location.href, "Link copied"),
    },
    {
      key: "id",
      label: "Copy the id",
      hint: run.id.slice(-6),
      icon: <CopyIcon size={14} />,
      onPick: () => void copyText(run.id),
    },
    {
      key: "path",
      label: "Copy the path of the run folder",
      icon: <FolderIcon size={14} />,
      onPick: () => void copyText(run.path),
    },
  ];
  const archived = run.tags.includes(ARCHIVED);
  if (run.editable) {
    if (signedIn.value)
      items.push({
        key: "share",
        label: "Make a view-only link …",
        icon: <ShareIcon size={14} />,
        onPick: () => setSharing(true),
      });
    items.push({
      key: "archive",
      label: archived ? "Unarchive" : "Archive",
      icon: <FolderIcon size={14} />,
      onPick: () => void setArchived([run.id], !archived),
    });
    items.push({
      key: "delete",
      label: "Delete …",
      icon: <TrashIcon size={14} />,
      onPick: () => askDelete([run.id], () => go("/runs")),
    });
  }
  const compare = () => {
    setSelected([...selected.peek(), run.id]);
    go("/compare");
  };
  return (
    <div class="hstack gap-2 rigid run-actions">
      {others > 0 ? (
        <Button
          kind="primary"
          onClick={compare}
          aria-label={`Compare with the ${others} selected`}
          title="This run beside the selected ones"
        >
          <ColumnsIcon size={14} /> <span>Compare with the {others} chosen</span>
        </Button>
      ) : null}
      <Button
        aria-pressed={chosen}
        aria-label={chosen ? "Selected" : "Select"}
        title={chosen ? "Selected: it is drawn on Charts and can be compared" : "Select it for Charts and Compare"}
        onClick={() => toggleSelected(run.id)}
      >
        {chosen ? <CheckIcon size={14} /> : <PlusIcon size={14} />} <span>{chosen ? "Selected" : "Select"}</span>
      </Button>
      <Menu label="More about this run" buttonClass="icon-button" button={<MoreIcon />} align="end" items={items} />
      {sharing ? <RunLinkDialog run={run.id} onClose={() => setSharing(false)} /> : null}
    </div>
  );
}
