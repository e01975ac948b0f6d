/** One run: how it went, with what config, from which code, on which machine. */

import { useEffect, useRef, useState } from "preact/hooks";
import "../style/run.css";
import { Button, copyText, ErrorState, IconButton, Skeleton, StatusDot } from "../components";
import { ChartIcon, ChevronLeftIcon, CopyIcon, PencilIcon } from "../components/icons";
import { now } from "../clock";
import { useKeys } from "../keys";
import { formatAge, formatDuration, formatTime, visibleText } from "../lib/format";
import type { RunDetail } from "../lib/schema";
import { go, linkTo, type PageDef } from "../router";
import { lookOfRun, selected, setSelected, toggleSelected } from "../state";
import { detail, failure, fetchedAt, readRun, watchRun } from "./run/data";
import { Command, Environment, Git } from "./run/facts";
import { Pairs } from "./run/parts";
import { Findings } from "./run/findings";
import { Alerts, Artifacts, Attempts, Failure, Losses, Summary } from "./run/story";
import { NotesEditor } from "./runs/notes";
import { TagsCell } from "./runs/tags";

function Run({ params }: { params: Record<string, string> }) {
  const id = params.id ?? "";
  useEffect(() => watchRun(id), [id]);
  useKeys({ Escape: () => go("/runs"), c: () => (toggleSelected(id, true), go("/charts")) });
  const run = detail.value?.id === id ? detail.value : null;
  if (!run && failure.value) return <ErrorState error={failure.value} onRetry={() => void readRun(id)} />;
  return (
    <article class="run-page" aria-label="Run">
      {run ? <Whole run={run} /> : <Skeleton width="40%" height={24} />}
    </article>
  );
}

function Whole({ run }: { run: RunDetail }) {
  return (
    <>
      <Head run={run} />
      <div class="run-columns">
        <div class="run-main">
          <Failure run={run} />
          <Losses run={run} />
          <Findings findings={run.findings} />
          <Alerts run={run} />
          <Summary values={run.summary} />
          <Attempts run={run} />
          <Artifacts run={run} />
        </div>
        <div class="run-side">
          <Pairs title="Config" pairs={Object.entries(run.config)} />
          <Command run={run} />
          <Git git={run.git} />
          <Environment run={run} />
        </div>
      </div>
    </>
  );
}

function Head({ run }: { run: RunDetail }) {
  const name = visibleText(run.name) || "(no name)";
  const seconds = run.status === "running" ? run.duration_s + Math.max(0, now.value - fetchedAt.value) : run.duration_s;
  const others = selected.value.filter((id) => id !== run.id).length;
  const show = (ids: readonly string[]) => () => {
    setSelected(ids);
    go("/charts");
  };
  return (
    <header class="run-head">
      <a class="run-back" href={linkTo("/runs")}>
        <ChevronLeftIcon size={14} /> Runs
      </a>
      <div class="run-title">
        <span class="swatch-dot swatch-big" style={{ color: lookOfRun(run.id).colour }} />
        <h1 class="isolate" title={name}>
          {name}
        </h1>
        <span class="spring" />
        {others > 0 ? (
          <Button onClick={show([...selected.value, run.id])} title="Keep the chosen runs, and draw this one beside them (c)">
            Compare with the {others} chosen
          </Button>
        ) : null}
        <Button onClick={() => go("/profile", { of: run.id, profile: "", rank: "" })} title="Where the time and the memory of its steps went">
          Profile
        </Button>
        <Button kind="primary" onClick={show([run.id])} title="Charts and media of this run alone">
          <ChartIcon size={14} /> Charts of this run
        </Button>
      </div>
      <div class="run-line">
        <StatusDot status={run.status} />
        <span title={formatTime(run.created)}>started {formatAge(run.created, now.value)}</span>
        <span>{formatDuration(seconds)}</span>
        <span class="isolate">{visibleText(run.project)}</span>
        {run.group ? <span class="isolate">group {visibleText(run.group)}</span> : null}
        <span class="run-path mono isolate" title={visibleText(run.path)}>
          {run.id}
          <IconButton label="Copy the path of the run folder" onClick={() => void copyText(run.path)}>
            <CopyIcon size={12} />
          </IconButton>
        </span>
      </div>
      <div class="run-line row-like">
        <TagsCell id={run.id} tags={run.tags} />
        <Notes run={run} />
      </div>
    </header>
  );
}

function Notes({ run }: { run: RunDetail }) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  return (
    <div class="run-notes">
      {run.notes ? <p class="isolate">{visibleText(run.notes)}</p> : null}
      {run.editable ? (
        <button ref={anchor} type="button" class="button button-quiet" onClick={() => setOpen(true)}>
          <PencilIcon size={12} /> {run.notes ? "Edit" : "Add a note"}
        </button>
      ) : null}
      {open ? (
        <NotesEditor
          id={run.id}
          notes={run.notes}
          anchor={anchor.current}
          onClose={() => setOpen(false)}
          onSaved={() => void readRun(run.id)}
        />
      ) : null}
    </div>
  );
}

export default { path: "/run/:id", title: "Run", order: 30, Page: Run } satisfies PageDef;
