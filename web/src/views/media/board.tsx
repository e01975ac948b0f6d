/** Everything that runs logged besides numbers, under one slider. Takes the runs to show and nothing else. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { EmptyState, ErrorState, Lesson, Lessons, Skeleton } from "../../components";
import { describeKeys } from "../../components/help";
import { ImageIcon } from "./icons";
import { searchFor } from "../../lib/chart-search";
import { count, visibleText } from "../../lib/format";
import { kindWords, TOGETHER } from "../../lib/media-kinds";
import { unionOf } from "../../lib/media-steps";
import type { MediaIndex, MediaKey } from "../../lib/schema";
import "../../style/charts.css";
import "../../style/charts-panels.css";
import "../../style/charts-media.css";
import "../../style/charts-text.css";
import "../../style/media.css";
import "../../style/media-kinds.css";
import "../../style/media-looking.css";
import { useSize } from "../charts/visible";
import { Bar } from "./bar";
import { MOST_RUNS, useLiveMedia, useMediaIndex } from "./data";
import { Lightbox } from "./lightbox";
import { KeyRow } from "./row";
import { RunHeads } from "./run-heads";
import { runName } from "../../twins";
import * as settings from "./settings";
import { StepBar } from "./step-bar";

describeKeys("Media", {
  "/": "find media",
  "← →": "previous or next step",
  "Home End": "first step, newest step",
  Space: "play through the steps",
  "+ −": "larger or smaller pictures",
  "0": "in the large view: fit the image again",
});

/** What names at the left and gaps take of the width. */
const NAMES_PX = 260;

export function MediaBoard({ runs }: { runs: readonly string[] }) {
  const asked = useMemo(() => runs.slice(0, MOST_RUNS), [runs.join()]);
  useLiveMedia(asked);
  const index = useMediaIndex(asked);
  if (index.error && !index.data)
    return <ErrorState error={new Error(index.error)} title="The media could not be listed" onRetry={index.retry} />;
  if (!index.data) return <Waiting />;
  if (index.data.keys.length === 0) return <Nothing runs={asked.length} />;
  return (
    <Listed
      index={index.data}
      error={index.error}
      retry={index.retry}
      asked={asked}
      left={runs.length - asked.length}
    />
  );
}

interface ListedProps {
  index: MediaIndex;
  error: string | null;
  retry(): void;
  /** The runs that were asked about. */
  asked: readonly string[];
  /** How many more were given. */
  left: number;
}

function Listed({ index, error, retry, asked, left }: ListedProps) {
  const keys = useMemo(
    () => matching(index.keys, settings.find.value, settings.kind.value),
    [index, settings.find.value, settings.kind.value],
  );
  const steps = useMemo(() => unionOf(keys.map((key) => key.steps)), [keys]);
  // A run that logged none of this would be a column of nothing.
  const runs = useMemo(() => {
    const having = new Set(keys.flatMap((key) => key.runs));
    return keys.length > 0 ? asked.filter((run) => having.has(run)) : asked;
  }, [keys, asked]);
  const place = useRef<HTMLDivElement>(null);
  const room = useSize(place);
  const columns = settings.layout.value === "columns" || (settings.layout.value === "auto" && runs.length > 1);
  const size =
    settings.size.value ||
    settings.fittingSize((room?.width ?? 1200) - (columns ? NAMES_PX : 40), columns ? runs.length : 4);
  useEffect(() => void (settings.drawnSize.value = size), [size]);
  const opening = useOpening(place);
  return (
    <div class="page" style={{ "--size": `${size}px`, "--runs": runs.length }}>
      <Bar keys={index.keys} shown={keys.length} columns={columns} several={runs.length > 1} />
      <StepBar steps={steps} />
      {error ? (
        <p class="banner" data-tone="bad" role="alert">
          {error}{" "}
          <button type="button" class="link" onClick={retry}>
            Try again
          </button>
        </p>
      ) : null}
      <div
        ref={place}
        class={`media-scroll charts-scroll${opening ? " in-order" : ""}`}
        data-columns={columns || undefined}
        data-single={runs.length === 1 || undefined}
        tabIndex={-1}
      >
        <Without runs={asked.filter((run) => !runs.includes(run))} />
        {left > 0 ? (
          <p class="small quiet media-more">
            {count(left, "run")} more than are shown side by side; choose fewer to see them.
          </p>
        ) : null}
        {columns && keys.some((key) => !TOGETHER.has(key.kind)) ? <RunHeads runs={runs} /> : null}
        {keys.length === 0 ? (
          <NoMatch />
        ) : (
          keys.map((entry) => (
            <KeyRow key={`${entry.kind}/${entry.key}`} entry={entry} runs={runs} steps={steps} columns={columns} />
          ))
        )}
        {index.omitted ? (
          <p class="small quiet media-more">{count(index.omitted, "key")} more than this page can hold.</p>
        ) : null}
      </div>
      <Lightbox runs={runs} steps={steps} />
    </div>
  );
}

const LOOK_MS = 120;
/** What a row shows until its content is there; `.in-order` keeps the rows below it dark. */
const UNFINISHED = ".skeleton, .media-hold, [aria-busy='true']";

/** True until every row on the screen is there: rows then appear from above to below, and none is pushed down. */
function useOpening(place: { current: HTMLElement | null }): boolean {
  const [opening, setOpening] = useState(true);
  useEffect(() => {
    const timer = setInterval(() => {
      const end = place.current?.getBoundingClientRect().bottom ?? 0;
      const waiting = [...(place.current?.querySelectorAll(UNFINISHED) ?? [])];
      if (waiting.some((one) => one.getBoundingClientRect().top < end)) return;
      clearInterval(timer);
      setOpening(false);
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return opening;
}

function Without({ runs }: { runs: readonly string[] }) {
  if (runs.length === 0) return null;
  return (
    <p class="small isolate quiet media-more" title={runs.map((id) => runName(id)).join(", ")}>
      Nothing to show from {count(runs.length, "run")}:{" "}
      {runs
        .slice(0, 3)
        .map((id) => runName(id))
        .join(", ")}
      {runs.length > 3 ? " …" : ""}
    </p>
  );
}

function matching(keys: readonly MediaKey[], find: string, kind: string): MediaKey[] {
  const { matches } = searchFor(find, false);
  return keys.filter((entry) => (kind === "" || entry.kind === kind) && matches(entry.key));
}

function Waiting() {
  return (
    <div class="page" aria-busy="true">
      <div class="wait">
        <Skeleton width="40%" />
        <Skeleton width="70%" />
        <Skeleton width="55%" />
      </div>
    </div>
  );
}

const LOG_IMAGE = 'run.log({"loss": loss, "sample": stepscope.Image(x)})';

function Nothing({ runs }: { runs: number }) {
  return (
    <EmptyState
      title={runs === 1 ? "This run has logged no media" : "These runs have logged no media"}
      icon={ImageIcon}
    >
      <p>Images, videos, sounds, text, tables and figures appear here, step by step.</p>
      <Lessons>
        <Lesson title="Log an image beside the numbers" text={LOG_IMAGE} />
      </Lessons>
    </EmptyState>
  );
}

function NoMatch() {
  return (
    <EmptyState title={settings.find.value ? "Nothing matches the search" : "Nothing of this kind"}>
      <p>
        {settings.kind.value ? `Of the kind “${kindWords(visibleText(settings.kind.value))}” no` : "No"} key
        {settings.find.value ? (
          <>
            {" "}
            is named like <code class="isolate">{visibleText(settings.find.value)}</code>.
          </>
        ) : (
          " was logged by these runs."
        )}
      </p>
      <button
        type="button"
        class="link"
        onClick={() => {
          settings.find.value = "";
          settings.kind.value = "";
        }}
      >
        Show everything
      </button>
    </EmptyState>
  );
}
