/** What the script printed: searchable, in its colours, tied to steps. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import {
  Button,
  copyText,
  EmptyState,
  ErrorState,
  IconButton,
  Lesson,
  Lessons,
  Skeleton,
  toast,
} from "../../../components";
import { describeKeys } from "../../../components/help";
import { ArrowDownIcon, CloseIcon, CopyIcon, TableIcon } from "../../../components/icons";
import { useKeys } from "../../../keys";
import { writeLines } from "../../../lib/console-scroll";
import { count } from "../../../lib/format";
import type { RunDetail } from "../../../lib/schema";
import { formatHash } from "../../../lib/url";
import "../../../style/console.css";
import { ConsoleBar, goToError } from "../console/bar";
import { ConsoleLines } from "../console/data";
import { LineList } from "../console/list";
import * as settings from "../console/settings";
import { ConsoleView } from "../console/view";
import { goPart } from "../place";

describeKeys("Console", {
  "/": "find",
  "n N": "next, previous match",
  m: "only lines that match",
  e: "to the last error",
  w: "wrap long lines",
  G: "to the end, and follow it",
  Home: "to the first line",
});

export function ConsolePart({ run }: { run: RunDetail }) {
  const view = useMemo(() => {
    settings.arriveAt(run.id);
    return new ConsoleView(new ConsoleLines(run.id));
  }, [run.id]);
  useEffect(() => () => view.lines.close(), [view]);
  useArrival(view);
  const box = useRef<HTMLDivElement>(null);
  const lastError = () => {
    const error = view.lines.info.peek()?.errors.at(-1);
    if (error) void goToError(view, error);
  };
  useKeys({
    "/": () => box.current?.querySelector<HTMLInputElement>(".con-search input")?.focus(),
    n: () => void view.goToMatch("next"),
    N: () => void view.goToMatch("previous"),
    m: () => (settings.only.value = !settings.only.peek()),
    e: lastError,
    w: () => (settings.wrap.value = !settings.wrap.peek()),
    G: () => view.goToEnd(),
    End: () => view.goToEnd(),
    Home: () => view.goToStart(),
    Escape: () =>
      settings.line.peek()
        ? (settings.line.value = "")
        : settings.search.peek()
          ? (settings.search.value = "")
          : goPart("overview"),
  });
  const { info, fault } = view.lines;
  if (fault.value && !info.value)
    return <ErrorState error={fault.value} onRetry={() => void view.lines.filter(settings.filters.peek())} />;
  if (info.value?.total === 0) return <Nothing run={run} />;
  return (
    <div ref={box} class="page anchor console">
      <ConsoleBar run={run} view={view} />
      {info.value ? <LineList run={run} view={view} onClick={(event) => onClick(event, view)} /> : <Waiting />}
      {info.value && info.value.rows === 0 ? (
        <p class="con-none">
          {settings.search.value && info.value.searched < info.value.total
            ? "Looking…"
            : "No line matches these filters."}
        </p>
      ) : null}
      <Picked run={run} view={view} />
      <Follow run={run} view={view} />
    </div>
  );
}

/** Filters of the address are applied; then the place that a link names is gone to, once. */
function useArrival(view: ConsoleView): void {
  const went = useRef("");
  useSignalEffect(() => {
    const wanted = settings.filters.value;
    view.match.value = null;
    void view.lines.filter(wanted).then(async () => {
      const picked = settings.picked.peek();
      const step = settings.step.peek();
      const target = picked ? `line ${picked.first}` : step ? `step ${step}` : "";
      if (target && went.current !== target) {
        went.current = target;
        if (picked) await view.goToNumber("line", picked.first);
        else if (/^-?\d+$/.test(step)) await view.goToNumber("step", Number(step));
      } else if (wanted.search && !wanted.only) await view.goToMatch("previous");
      else if (!target) view.goToEnd();
    });
  });
  useSignalEffect(() => {
    const step = settings.step.value;
    if (step && went.current !== `step ${step}` && view.lines.info.peek() && /^-?\d+$/.test(step)) {
      went.current = `step ${step}`;
      void view.goToNumber("step", Number(step));
    }
  });
}

function onClick(event: MouseEvent, view: ConsoleView): void {
  const target = (event.target as HTMLElement).closest<HTMLElement>("[data-pick], [data-step], [data-whole]");
  const { pick, step, whole } = target?.dataset ?? {};
  if (pick !== undefined) {
    const shown = Number(pick) + 1;
    const from = event.shiftKey ? (settings.picked.peek()?.first ?? Number(pick)) + 1 : shown;
    const again = settings.line.peek() === String(shown) && !event.shiftKey;
    settings.line.value = again ? "" : writeLines(from, shown);
  } else if (step !== undefined) goPart("charts", { mark: step, line: "" });
  else if (whole !== undefined) void copyLines(view, Number(whole), Number(whole));
}

async function copyLines(view: ConsoleView, first: number, last: number): Promise<void> {
  try {
    const { text, lines, cut } = await view.lines.copy(first, last);
    await copyText(
      text,
      cut ? `Copied the first ${count(lines, "line")}; that is all that fits` : `Copied ${count(lines, "line")}`,
    );
  } catch (fault) {
    toast(fault instanceof Error ? fault.message : String(fault), "warning");
  }
}

function Picked({ run, view }: { run: RunDetail; view: ConsoleView }) {
  const picked = settings.picked.value;
  if (!picked || !view.lines.info.value) return null;
  const { first, last } = picked;
  const link = () => {
    const { rank, stream } = settings.filters.peek();
    const query = { part: "console", line: settings.line.peek(), stream, crank: rank === null ? "" : String(rank) };
    return `${location.href.split("#")[0]}${formatHash({ path: `/run/${run.id}`, query })}`;
  };
  return (
    <div class="con-picked" role="status">
      <span>
        {first === last
          ? `Line ${(first + 1).toLocaleString("en-US")}`
          : `Lines ${(first + 1).toLocaleString("en-US")}–${(last + 1).toLocaleString("en-US")}`}
      </span>
      <Button kind="quiet" onClick={() => void copyLines(view, first, last)}>
        <CopyIcon size={12} /> Copy
      </Button>
      <Button kind="quiet" onClick={() => void copyText(link(), "Link copied")}>
        Copy link
      </Button>
      <IconButton label="Clear line selection" onClick={() => (settings.line.value = "")}>
        <CloseIcon size={12} />
      </IconButton>
    </div>
  );
}

function Follow({ run, view }: { run: RunDetail; view: ConsoleView }) {
  if (view.following.value || !view.lines.info.value || settings.picked.value) return null;
  const fresh = Math.max(0, view.lines.info.value.rows - view.leftAt.value);
  const live = run.status === "running";
  return (
    <button type="button" class="con-follow" onClick={() => view.goToEnd()}>
      <ArrowDownIcon size={14} /> {fresh > 0 ? count(fresh, "new line") : live ? "Follow the end" : "To the end"}
    </button>
  );
}

function Waiting() {
  return (
    <div class="vstack con-waiting" aria-busy="true">
      {[62, 48, 71, 30, 55, 66].map((width) => (
        <Skeleton key={width} width={`${width}%`} />
      ))}
    </div>
  );
}

function Nothing({ run }: { run: RunDetail }) {
  return (
    <EmptyState title={run.status === "running" ? "Nothing was printed yet" : "Nothing was printed"} icon={TableIcon}>
      <p>
        What a script prints is kept with its run, both stdout and stderr, unless that was switched off. It appears here
        as it is printed.
      </p>
      <Lessons>
        <Lesson
          title="It is on by default"
          text={'run = stepscope.init(project="first", console=True)\nprint("epoch", 1)'}
        />
        <Lesson title="Or without changing the script" text="stepscope run train.py" />
      </Lessons>
    </EmptyState>
  );
}
