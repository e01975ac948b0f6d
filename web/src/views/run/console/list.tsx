/** The lines on the screen, out of any number: only these are on the page. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Finder, textFinder } from "../../../lib/ansi";
import { findPattern, PatternError, patternsReady } from "../../../lib/pattern";
import { LINE, topLine } from "../../../lib/console-scroll";
import type { ConsoleError, ConsoleLine, RunDetail } from "../../../lib/schema";
import { Line } from "./line";
import * as settings from "./settings";
import type { ConsoleView } from "./view";

const SPARE = 12;

export interface ListProps {
  run: RunDetail;
  view: ConsoleView;
  onClick(event: MouseEvent): void;
}

export function LineList({ run, view, onClick }: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const block = useRef<HTMLDivElement>(null);
  const { lines } = view;
  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement;
    view.element = element;
    const measure = () => (view.size.value = { top: element.scrollTop, height: element.clientHeight });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => {
      watch.disconnect();
      view.element = null;
    };
  }, [view]);
  void lines.drawn.value;
  const wrap = settings.wrap.value;
  const { scroll } = view;
  const { top: scrollTop, height } = view.size.value;
  const rows = lines.info.value?.rows ?? 0;
  const top = topLine(scroll, scrollTop);
  const start = Math.max(0, Math.floor(top) - SPARE);
  const end = Math.min(rows, Math.ceil(top + height / LINE) + SPARE);
  useEffect(() => lines.need(start, end));
  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement;
    if (view.following.peek() && element.scrollTop < element.scrollHeight - element.clientHeight - 1)
      element.scrollTop = element.scrollHeight;
  }, [rows, scroll.space, view]);
  useLayoutEffect(() =>
    settle(box.current as HTMLDivElement, block.current as HTMLDivElement, view, { start, end, rows, wrap }),
  );
  useSignalEffect(() => {
    void settings.wrap.value;
    view.tail.value = null;
  });
  const onScroll = (event: Event) => {
    const element = event.currentTarget as HTMLDivElement;
    const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
    if (view.following.peek() !== atEnd) {
      view.following.value = atEnd;
      view.leftAt.value = lines.info.peek()?.rows ?? 0;
    }
    view.size.value = { top: element.scrollTop, height: element.clientHeight };
  };
  return (
    <div
      ref={box}
      class="fill-down scroll subtle con-lines"
      data-wrap={wrap || undefined}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label={`Console of ${run.name}, ${rows.toLocaleString("en-US")} lines`}
      onScroll={onScroll}
      onClick={onClick}
    >
      <div class="con-space" style={{ height: `${scroll.space}px` }}>
        <div ref={block} class="con-block">
          <Rows run={run} view={view} start={start} end={end} />
        </div>
      </div>
    </div>
  );
}

interface Window {
  start: number;
  end: number;
  rows: number;
  wrap: boolean;
}

/**
 * Puts the drawn lines where the scroll bar says; wrapped lines have heights of their own, so the top one is the
 * anchor.
 */
function settle(box: HTMLElement, block: HTMLElement, view: ConsoleView, { start, end, rows, wrap }: Window): void {
  const { scroll } = view;
  const top = topLine(scroll, box.scrollTop);
  const anchor = Math.floor(top);
  const fraction = top - anchor;
  let above = (top - start) * LINE;
  if (wrap) {
    const element = block.children[anchor - start] as HTMLElement | undefined;
    if (element) above = element.offsetTop + fraction * element.offsetHeight;
    if (end === rows) noteTail(box, block, view);
  }
  block.style.transform = `translateY(${Math.round(box.scrollTop - above)}px)`;
}

/** How many of the last lines fill the view, so that the scroll bar ends with the last one at the bottom. */
function noteTail(box: HTMLElement, block: HTMLElement, view: ConsoleView): void {
  let left = box.clientHeight;
  let count = 0;
  for (let at = block.children.length - 1; at >= 0; at--) {
    const height = (block.children[at] as HTMLElement).offsetHeight;
    if (height >= left) {
      count += left / Math.max(1, height);
      left = 0;
      break;
    }
    left -= height;
    count++;
  }
  if (left > 0) return; // the view is not full: there is not enough to tell
  if (Math.abs((view.tail.peek() ?? box.clientHeight / LINE) - count) > 0.01) view.tail.value = count;
}

function Rows({ run, view, start, end }: { run: RunDetail; view: ConsoleView; start: number; end: number }) {
  const { lines } = view;
  const info = lines.info.value;
  const picked = settings.picked.value;
  const match = view.match.value;
  const { search, regex } = settings.filters.value;
  const find = useMemo(() => finderOf(search, regex), [search, regex, patternsReady.value]);
  const showRank = (info?.ranks.length ?? 0) > 1 && settings.filters.value.rank === null;
  const out = [];
  let step: number | null | undefined = start > 0 ? lines.line(start - 1)?.step : undefined;
  for (let row = start; row < end; row++) {
    const line = lines.line(row);
    if (!line) {
      out.push(<div key={row} class="con-line con-wait" data-row={row} />);
      step = undefined;
      continue;
    }
    out.push(
      <Line
        key={row}
        line={line}
        row={row}
        began={run.created}
        stamps={settings.stamps.value}
        showRank={showRank}
        newStep={info?.steps ? line.step !== step : "none"}
        find={line.match ? find : null}
        picked={picked !== null && line.number >= picked.first && line.number <= picked.last}
        current={match?.row === row}
        shining={view.shining.value === row}
        trace={traceOf(line, info?.errors ?? [])}
      />,
    );
    step = line.step;
  }
  return <>{out}</>;
}

/** A pattern that cannot be read marks nothing: the server says what is wrong with it. */
function finderOf(search: string, regex: boolean): Finder | null {
  if (!search) return null;
  try {
    return regex ? findPattern(search) : textFinder(search);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return null;
  }
}

function traceOf(line: ConsoleLine, errors: readonly ConsoleError[]): "" | "part" | "end" {
  for (let at = errors.length - 1; at >= 0; at--) {
    const error = errors[at] as ConsoleError;
    if (line.number > error.last) return "";
    if (line.number >= error.first && (line.stderr || line.number === error.last))
      return line.number === error.last ? "end" : "part";
  }
  return "";
}
