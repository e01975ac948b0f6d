/**
 * One key of the board: its name, and what the runs logged under it at the step. Fetched only while it is on the
 * screen.
 */

import { useRef } from "preact/hooks";
import { Button, Skeleton } from "../../components";
import { count, visibleText } from "../../lib/format";
import { kindWord } from "../../lib/media-kinds";
import { neighbours, stopOf } from "../../lib/media-steps";
import type { MediaItem, MediaKey } from "../../lib/schema";
import { useVisible } from "../charts/visible";
import { Content } from "./content";
import { useItems, usePrefetch } from "./data";
import { useStep } from "./look-place";
import { forward } from "./step-bar";

export interface RowProps {
  entry: MediaKey;
  runs: readonly string[];
  /** All stops of the board's slider. */
  steps: readonly number[];
  /** A column for each run. */
  columns: boolean;
}

/** Kinds whose next pictures are fetched before they are asked for. */
const AHEAD = new Set(["image", "video", "figure", "confusion", "curve", "text"]);

/** Where there is one run, several of these stand beside each other. */
const SMALL = new Set(["image", "video", "figure", "audio", "file"]);

export function KeyRow({ entry, runs, steps, columns }: RowProps) {
  const place = useRef<HTMLElement>(null);
  const visible = useVisible(place);
  const step = useStep().value;
  const items = useItems(runs, entry.key, step, visible);
  const stop = stopOf(steps, step);
  usePrefetch(
    runs,
    entry.key,
    neighbours(steps, stop, forward),
    visible && AHEAD.has(entry.kind) && items.data !== null,
  );
  const missing = runs.length - entry.runs.length;
  const own = ofKind(items.data?.items ?? [], entry.kind);
  // Where no run has anything newer, the row says so once; a run that is behind the others says it itself.
  const reached = own.length > 0 ? Math.max(...own.map((item) => item.step)) : null;
  return (
    <section
      ref={place}
      class="media-key"
      data-kind={entry.kind}
      data-key={entry.key}
      data-one={(SMALL.has(entry.kind) && entry.most === 1) || undefined}
      aria-label={`${visibleText(entry.key)}, ${kindWord(entry.kind)}`}
    >
      <h2 class="gap-2 strong media-title">
        <span class="isolate ellipsis" title={visibleText(entry.key)}>
          {visibleText(entry.key)}
        </span>
        <span class="rigid tiny quiet media-note">
          {kindWord(entry.kind)} · {count(entry.steps.length, "step")}
          {reached !== null && reached !== steps[stop] ? ` · step ${reached.toLocaleString("en-US")}` : ""}
          {missing > 0 && runs.length > 1 ? ` · ${count(entry.runs.length, "run")} of ${runs.length}` : ""}
        </span>
      </h2>
      {items.error && !items.data ? (
        <div class="gap-2 quiet media-fault" role="alert">
          <p>{items.error}</p>
          <Button onClick={items.retry}>Try again</Button>
        </div>
      ) : items.data && visible ? (
        <Content entry={entry} items={own} all={items.data.items} runs={runs} columns={columns} step={reached} />
      ) : (
        <div class="gap-2 quiet media-hold" aria-busy={visible}>
          {visible ? <Skeleton width="30%" /> : null}
        </div>
      )}
    </section>
  );
}

/** One key may hold a text in one run and a table in another; and an embedding brings its sheet of pictures along. */
const ofKind = (items: readonly MediaItem[], kind: string): MediaItem[] => items.filter((item) => item.kind === kind);
