/** Every op of the step in a row; only those on the screen are on the page. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ArrowDownIcon, ArrowUpIcon } from "../../../components/icons";
import { formatBytes, visibleText } from "../../../lib/format";
import { formatCount, formatMicros } from "../../../lib/graph-words";
import { scrollToShow, visibleSpan } from "../../../lib/rows";
import type { OpRow, StepOps } from "../../../lib/schema";
import { tensorLabel } from "../../../lib/stat-words";
import type { OpPages } from "./data";
import { Amount, ModuleName, Values } from "./pieces";
import * as settings from "./settings";

const ROW = 28;
type Column = { by: settings.SortBy | null; label: string; number?: true };
const COLUMNS: readonly Column[] = [
  { by: "order", label: "#", number: true },
  { by: "name", label: "Op" },
  { by: "module", label: "Module" },
  { by: null, label: "Source" },
  { by: null, label: "Output" },
  { by: null, label: "Values" },
  { by: "time_us", label: "Time", number: true },
  { by: "flops", label: "FLOPs", number: true },
  { by: "saved_bytes", label: "Saved", number: true },
];

export function OpTable({ pages }: { pages: OpPages }) {
  const box = useRef<HTMLDivElement>(null);
  const scroll = useSignal({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current as HTMLDivElement;
    const measure = () => (scroll.value = { top: element.scrollTop, height: element.clientHeight });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  void pages.drawn.value;
  const info = pages.info.value;
  const total = info?.total ?? 0;
  const span = visibleSpan(scroll.value.top, scroll.value.height, ROW, total);
  useEffect(() => pages.need(span.start, span.end));
  useSignalEffect(() => {
    void settings.filters.value; // another order: begin at its top
    if (box.current) box.current.scrollTop = 0;
  });
  useShown(pages, box);
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape" && settings.op.peek()) settings.op.value = "";
    else if (by === 0) return;
    else {
      const at = rowOf(pages, span.start, span.end);
      const next = pages.row(Math.max(0, Math.min(total - 1, at < 0 ? span.start : at + by)));
      if (next) settings.op.value = String(next.index);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={box}
      class="fill scroll step-table"
      role="grid"
      aria-label="Ops"
      aria-rowcount={total + 1}
      tabIndex={0}
      onKeyDown={onKey}
      onScroll={(event) =>
        (scroll.value = { top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
      }
    >
      <Head />
      <div class="anchor" style={{ height: `${total * ROW}px` }}>
        {rowsBetween(pages, span.start, span.end).map(([at, row]) =>
          row ? (
            <Row key={at} at={at} row={row} info={info as StepOps} chosen={settings.op.value === String(row.index)} />
          ) : (
            <div key={at} class="rows-row step-row" style={{ transform: `translateY(${at * ROW}px)` }} />
          ),
        )}
      </div>
      {info && total === 0 ? <p class="none">No op matches these filters.</p> : null}
    </div>
  );
}

function rowsBetween(pages: OpPages, start: number, end: number): [number, OpRow | undefined][] {
  return Array.from({ length: Math.max(0, end - start) }, (_, at) => [start + at, pages.row(start + at)]);
}

function rowOf(pages: OpPages, start: number, end: number): number {
  for (let at = start; at < end; at++) if (String(pages.row(at)?.index) === settings.op.peek()) return at;
  return -1;
}

/** A chosen op is scrolled to, where the order tells its place. */
function useShown(pages: OpPages, box: { current: HTMLDivElement | null }): void {
  useSignalEffect(() => {
    const index = Number(settings.op.value || NaN);
    const plain = settings.sort.value === "order" && !settings.descending.value && !settings.isFiltered.value;
    const element = box.current;
    if (!element || !Number.isInteger(index) || !plain || (pages.info.value?.total ?? 0) === 0) return;
    const top = scrollToShow(index, element.scrollTop, element.clientHeight - 2 * ROW, ROW);
    if (top !== element.scrollTop) element.scrollTop = top;
  });
}

function Head() {
  const by = settings.sort.value;
  const down = settings.descending.value;
  const pick = (column: settings.SortBy) => {
    const numeric = column !== "order" && column !== "name" && column !== "module";
    if (by !== column) (settings.sort.value = column), (settings.descending.value = numeric);
    else if (down === numeric) settings.descending.value = !down;
    else (settings.sort.value = "order"), (settings.descending.value = false);
  };
  return (
    <div class="rows-head step-head" role="row">
      {COLUMNS.map((column) => (
        <span
          key={column.label}
          role="columnheader"
          class={column.number ? "number" : undefined}
          aria-sort={column.by === by ? (down ? "descending" : "ascending") : undefined}
        >
          {column.by === null ? (
            column.label
          ) : (
            <button type="button" onClick={() => pick(column.by as settings.SortBy)}>
              {column.label}
              {column.by === by && (by !== "order" || down) ? (
                down ? (
                  <ArrowDownIcon size={12} />
                ) : (
                  <ArrowUpIcon size={12} />
                )
              ) : null}
            </button>
          )}
        </span>
      ))}
    </div>
  );
}

function Row({ at, row, info, chosen }: { at: number; row: OpRow; info: StepOps; chosen: boolean }) {
  const [output] = row.output ?? [];
  return (
    <div
      class="rows-row step-row"
      role="row"
      aria-rowindex={at + 2}
      aria-selected={chosen}
      data-bad={row.bad || undefined}
      data-born={row.born || undefined}
      data-failed={row.error ? true : undefined}
      style={{ transform: `translateY(${at * ROW}px)` }}
      onClick={() => (settings.op.value = chosen ? "" : String(row.index))}
    >
      <span class="number quiet" role="gridcell">
        {row.index}
      </span>
      <span role="gridcell" class="medium ellipsis step-name" data-phase={row.phase}>
        <span class="isolate" title={row.args ? visibleText(row.args) : undefined}>
          {visibleText(row.name)}
        </span>
        {row.born ? <span class="badge step-tag step-tag-bad">born here</span> : null}
        {row.error ? <span class="badge step-tag step-tag-bad">failed</span> : null}
        {row.mark ? <span class="badge step-tag">{row.mark}</span> : null}
      </span>
      <span role="gridcell" class="ellipsis" title={visibleText(row.module ?? "")}>
        <ModuleName path={row.module} phase={row.phase} />
        {row.call ? <span class="quiet"> ×{row.call + 1}</span> : null}
      </span>
      <span role="gridcell" class="ellipsis mono step-place" title={row.text ? visibleText(row.text) : undefined}>
        {visibleText(row.place ?? "")}
      </span>
      <span role="gridcell" class="ellipsis mono step-shape">
        {output ? tensorLabel(output) : ""}
      </span>
      <span role="gridcell" class="ellipsis">
        {output?.stats ? <Values stats={output.stats} /> : null}
      </span>
      <Amount value={row.time_us} largest={info.max_time_us ?? 0} text={formatMicros} />
      <Amount value={row.flops} largest={info.max_flops ?? 0} text={formatCount} />
      <Amount value={row.saved_bytes ? row.saved_bytes : null} largest={info.max_saved_bytes ?? 0} text={formatBytes} />
    </div>
  );
}
