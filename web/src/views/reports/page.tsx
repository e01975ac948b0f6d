/** One report: read by default, edited when the address says so. */

import { batch } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, EmptyState, ErrorState, Skeleton, toast } from "../../components";
import { ReportIcon } from "../../components/icons";
import { now } from "../../clock";
import { ApiError, call, isAbort } from "../../lib/api";
import { formatAge } from "../../lib/format";
import { onLive } from "../../lib/live";
import type { ReportPage } from "../../lib/schema";
import { flag, number, text } from "../../lib/url";
import { go, linkTo, param } from "../../router";
import { project, selected } from "../../state";
import { useTitle } from "../../title";
import "../../style/report-dialogs.css";
import "../../style/report-editor.css";
import "../../style/reports.css";
import { about, NOTHING_OPEN } from "./begin";
import { Editing, type Kept, keptDraft } from "./editing";
import { Editor } from "./editor";
import { Reading } from "./reading";

/** Whether the report is open for writing. */
const edit = param("edit", false, flag, true);
/** An older version that is read; 0 for the newest. */
const version = param("version", 0, number, true);
/** What a new report begins with. */
const template = param("template", "", text);

const AGAIN_MS = 5000;

export function ReportView({ id }: { id: string }) {
  return id === "new" ? <NewReport /> : <OneReport id={id} />;
}

/** Leaves the report; what belongs to it alone goes out of the address too. */
function leaveReport(path = "/reports"): void {
  go(path, NOTHING_OPEN);
}

function OneReport({ id }: { id: string }) {
  const [page, setPage] = useState<ReportPage | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const wanted = version.value;
  const asked = useRef(0);
  const load = (stop?: AbortSignal) => {
    const mine = ++asked.current; // a late answer to an older question must not bring an older version back
    return call("POST /api/report", { id, version: wanted || null }, stop ? { signal: stop } : {}).then(
      (answer) => mine === asked.current && (setPage(answer), setFault(null)),
      (error: unknown) => void (isAbort(error) || mine !== asked.current || setFault(error)),
    );
  };
  useEffect(() => {
    const stop = new AbortController();
    void load(stop.signal);
    return () => stop.abort();
  }, [id, wanted]);
  // New runs may match the query of a panel; what is drawn already stays as it is.
  const bound = page !== null && /^\s*query:/m.test(page.text);
  useEffect(
    () => (bound && !edit.value ? everySoOften(() => void load()) : undefined),
    [bound, id, wanted, edit.value],
  );
  useTitle(page?.title || null);
  if (fault && !page) return <Missing fault={fault} onRetry={() => void load()} />;
  if (!page || (wanted && page.version !== wanted)) return <Waiting />;
  if (edit.value && page.editable && !wanted) return <EditReport page={page} onSaved={() => void load()} />;
  return (
    <Reading
      page={page}
      onEdit={() => (edit.value = true)}
      onVersion={(one) => (version.value = one === page.newest ? 0 : one)}
      onBringBack={(old) => void bringBack(page, old, () => ((version.value = 0), void load()))}
    />
  );
}

function everySoOften(act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onLive(() => {
    timer ??= setTimeout(() => ((timer = undefined), act()), AGAIN_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

async function bringBack(page: ReportPage, old: ReportPage, then: () => void): Promise<void> {
  try {
    const saved = await call("POST /api/report/save", { id: page.id, text: old.text, base: page.newest });
    toast(`Version ${old.version} is back, as version ${saved.version}`);
    then();
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    toast(
      fault.status === 409 ? "Someone saved a newer version in the meantime; look at it first." : fault.message,
      "error",
      "Not restored",
    );
  }
}

function Missing({ fault, onRetry }: { fault: unknown; onRetry(): void }) {
  if (!(fault instanceof ApiError) || fault.status !== 404) return <ErrorState error={fault} onRetry={onRetry} />;
  return (
    <EmptyState title="There is no such report" icon={ReportIcon}>
      <p>{fault.message}</p>
      <p>
        <a href={linkTo("/reports")}>All reports</a>
      </p>
    </EmptyState>
  );
}

function Waiting() {
  return (
    <div class="wait report-waiting" aria-busy="true">
      <Skeleton width="50%" height={30} />
      <Skeleton width="70%" />
      <Skeleton width="64%" />
      <Skeleton width="100%" height={240} />
    </div>
  );
}

function EditReport({ page, onSaved }: { page: ReportPage; onSaved(): void }) {
  const first = useRef(page);
  const [kept, setKept] = useState<Kept | null>(() => {
    const found = keptDraft(page.id);
    return found && found.text !== page.text ? found : null;
  });
  const [begin, setBegin] = useState<Kept | null>(null);
  const editing = useMemo(
    () =>
      new Editing(page.id, first.current.text, begin?.base ?? first.current.version, begin?.text ?? first.current.text),
    [page.id, begin],
  );
  if (kept) {
    return (
      <KeptDraft
        kept={kept}
        page={page}
        onGoOn={() => (setBegin(kept), setKept(null))}
        onDrop={() => (editing.forget(), setKept(null))}
      />
    );
  }
  return <Editor editing={editing} runs={[]} onSaved={onSaved} onDone={() => (edit.value = false)} />;
}

/** A text that was not saved the last time. */
function KeptDraft({
  kept,
  page,
  onGoOn,
  onDrop,
}: {
  kept: Kept;
  page: ReportPage | null;
  onGoOn(): void;
  onDrop(): void;
}) {
  const moved = page !== null && kept.base !== page.newest;
  return (
    <EmptyState title="You have changes that were not saved" icon={ReportIcon}>
      <p>
        This browser has kept them since {formatAge(kept.time, now.value)}.
        {moved
          ? ` They were begun with version ${kept.base}; the newest is ${page.newest}. Saving will show both.`
          : ""}
      </p>
      <p class="state-actions">
        <Button kind="primary" onClick={onGoOn}>
          Continue editing
        </Button>
        <Button onClick={onDrop}>Discard them</Button>
      </p>
    </EmptyState>
  );
}

const NEWEST = 5;

/** The runs that were named, else the chosen ones, else the newest of the project. */
async function runsToTellOf(stop: AbortSignal): Promise<readonly string[]> {
  const named = about.peek().length ? about.peek() : selected.peek();
  if (named.length || template.peek() === "blank") return named;
  const query = project.peek() ? `project = ${JSON.stringify(project.peek())}` : "";
  return (
    await call("POST /api/runs", { query, sort: "created", descending: true, limit: NEWEST }, { signal: stop })
  ).rows.map((row) => row.id);
}

function NewReport() {
  const [kept, setKept] = useState<Kept | null>(() => keptDraft("new"));
  const [begin, setBegin] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [runs, setRuns] = useState<readonly string[]>([]);
  useEffect(() => {
    if (kept || begin !== null) return;
    const stop = new AbortController();
    const work = async () => {
      const found = await runsToTellOf(stop.signal);
      const draft = await call(
        "POST /api/report/draft",
        { runs: [...found], template: template.peek() },
        { signal: stop.signal },
      );
      batch(() => (setRuns(found), setBegin(draft.text)));
    };
    work().catch((error: unknown) => isAbort(error) || setFault(error));
    return () => stop.abort();
  }, [kept]);
  const editing = useMemo(() => (begin === null ? null : new Editing(null, "", 0, begin, runs)), [begin]);
  if (kept)
    return (
      <KeptDraft
        kept={kept}
        page={null}
        onGoOn={() => (setBegin(kept.text), setKept(null))}
        onDrop={() => setKept(null)}
      />
    );
  if (fault) return <ErrorState error={fault} onRetry={() => leaveReport()} />;
  if (!editing) return <Waiting />;
  return (
    <Editor
      editing={editing}
      runs={runs}
      onSaved={(id) => go(`/report/${id}`, { ...NOTHING_OPEN, edit: "1" })}
      onDone={() => leaveReport()}
    />
  );
}
