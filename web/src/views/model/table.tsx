/** The modules as a tree of rows, tied to the graph: choosing in one chooses in the other. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ArrowDownIcon, ArrowUpIcon, ChevronDownIcon, ChevronRightIcon } from "../../components/icons";
import type { GraphState } from "../../graph/state";
import { visibleText } from "../../lib/format";
import { boxAt, boxesAround } from "../../lib/graph-model";
import { cut, formatBytes, formatCount, formatMicros, shapeText } from "../../lib/graph-words";
import {
  type ModuleColumn,
  type ModuleNode,
  moduleTree,
  openAtFirst,
  type Order,
  seenRows,
  wayToPath,
} from "../../lib/module-rows";
import { scrollToShow, visibleSpan } from "../../lib/rows";
import type { ModuleRow } from "../../lib/schema";

const ROW = 28;
const COLUMNS: readonly { by: Exclude<ModuleColumn, "module">; label: string; text(value: number): string }[] = [
  { by: "params", label: "Params", text: formatCount },
  { by: "flops", label: "FLOPs", text: formatCount },
  { by: "time_us", label: "Time", text: formatMicros },
  { by: "saved_bytes", label: "Memory", text: formatBytes },
];

export function ModuleTable({ rows, state }: { rows: readonly ModuleRow[]; state: GraphState }) {
  const tree = useComputed(() => moduleTree(rows));
  const open = useSignal<ReadonlySet<number>>(openAtFirst(tree.value));
  const order = useSignal<Order>({ by: "module", down: false });
  const scroll = useSignal({ top: 0, height: 600 });
  const box = useRef<HTMLDivElement>(null);
  const seen = useComputed(() => seenRows(tree.value, open.value, order.value));
  const chosen = useComputed(() => pathOfChoice(state));
  useSignalEffect(() => {
    const path = chosen.value;
    if (path === null) return;
    const way = wayToPath(tree.value, path);
    const shut = way.slice(0, -1).filter((node) => !open.peek().has(node.at));
    if (shut.length > 0) open.value = new Set([...open.peek(), ...shut.map((node) => node.at)]);
    const at = seen.peek().indexOf(way[way.length - 1] as ModuleNode);
    const element = box.current;
    if (at >= 0 && element) element.scrollTop = scrollToShow(at, element.scrollTop, element.clientHeight - ROW, ROW);
  });
  const toggle = (node: ModuleNode) => {
    const next = new Set(open.peek());
    if (!next.delete(node.at)) next.add(node.at);
    open.value = next;
  };
  const choose = (node: ModuleNode) => {
    const found = boxOf(state, node.row.path);
    if (found !== null) state.goTo(found);
  };
  const onKey = (event: KeyboardEvent) => {
    const at = seen.peek().findIndex((node) => node.row.path === chosen.peek());
    const node = seen.peek()[at];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next =
        seen.peek()[Math.max(0, Math.min(seen.peek().length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))];
      if (next) choose(next);
    } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft" || event.key === "Enter") && node) {
      if (open.peek().has(node.at) !== (event.key === "ArrowRight") || event.key === "Enter") toggle(node);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const span = visibleSpan(scroll.value.top, scroll.value.height, ROW, seen.value.length);
  const largest = largestOf(rows);
  const measure = (element: HTMLElement) => (scroll.value = { top: element.scrollTop, height: element.clientHeight });
  return (
    <div
      ref={box}
      class="rigid scroll modules"
      tabIndex={0}
      role="treegrid"
      aria-label="Modules"
      aria-rowcount={seen.value.length}
      onScroll={(event) => measure(event.currentTarget)}
      onKeyDown={onKey}
    >
      <Head order={order.value} onSort={(by) => (order.value = nextOrder(order.peek(), by))} />
      <div class="anchor" style={{ height: `${seen.value.length * ROW}px` }}>
        {seen.value.slice(span.start, span.end).map((node, index) => (
          <Row
            key={node.at}
            node={node}
            top={(span.start + index) * ROW}
            largest={largest}
            open={node.children.length > 0 ? open.value.has(node.at) : null}
            chosen={node.row.path === chosen.value}
            onToggle={() => toggle(node)}
            onChoose={() => choose(node)}
          />
        ))}
      </div>
    </div>
  );
}

function nextOrder(now: Order, by: ModuleColumn): Order {
  if (now.by !== by) return { by, down: by !== "module" };
  return by !== "module" && !now.down ? { by: "module", down: false } : { by, down: !now.down };
}

function Head({ order, onSort }: { order: Order; onSort(by: ModuleColumn): void }) {
  const sort = (by: ModuleColumn) => (order.by !== by ? "none" : order.down ? "descending" : "ascending");
  const arrow = (by: ModuleColumn) =>
    order.by !== by || (by === "module" && !order.down) ? null : order.down ? (
      <ArrowDownIcon size={12} />
    ) : (
      <ArrowUpIcon size={12} />
    );
  return (
    <div class="rows-head modules-head" role="row">
      <button type="button" role="columnheader" aria-sort={sort("module")} onClick={() => onSort("module")}>
        Module {arrow("module")}
      </button>
      <span role="columnheader">Output</span>
      {COLUMNS.map(({ by, label }) => (
        <button
          key={by}
          type="button"
          role="columnheader"
          class="number"
          aria-sort={sort(by)}
          onClick={() => onSort(by)}
        >
          {arrow(by)} {label}
        </button>
      ))}
    </div>
  );
}

interface RowProps {
  node: ModuleNode;
  top: number;
  largest: Record<string, number>;
  open: boolean | null;
  chosen: boolean;
  onToggle(): void;
  onChoose(): void;
}

function Row({ node: { row }, top, largest, open, chosen, onToggle, onChoose }: RowProps) {
  return (
    <div
      class="rows-row modules-row"
      role="row"
      aria-level={row.level + 1}
      aria-expanded={open ?? undefined}
      aria-selected={chosen}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onChoose}
      onDblClick={onToggle}
    >
      <span class="hstack one-line modules-name" role="gridcell" style={{ paddingLeft: `${row.level * 14}px` }}>
        {open === null ? (
          <span class="inline centered rigid quiet modules-caret" />
        ) : (
          <button
            type="button"
            class="inline centered rigid quiet modules-caret"
            tabIndex={-1}
            aria-label={open ? "Close" : "Open"}
            onClick={(event) => (event.stopPropagation(), onToggle())}
          >
            {open ? <ChevronDownIcon size={12} /> : <ChevronRightIcon size={12} />}
          </button>
        )}
        <span class="isolate ellipsis" title={visibleText(row.path || row.label)}>
          {cut(row.label)}
        </span>
        <span class="quiet isolate ellipsis">{row.type && row.type !== row.label ? cut(row.type) : ""}</span>
        {row.mark ? (
          <span class="badge isolate ellipsis modules-mark" title={visibleText(row.mark)}>
            {cut(row.mark)}
          </span>
        ) : null}
      </span>
      <span class="mono modules-shape ellipsis" role="gridcell" title={row.output?.map(shapeText).join(", ")}>
        {row.output?.[0] ? shapeText(row.output[0]) : ""}
        {(row.output?.length ?? 0) > 1 ? ` +${(row.output?.length ?? 0) - 1}` : ""}
      </span>
      {COLUMNS.map(({ by, text }) => (
        <Amount key={by} value={row[by] ?? null} largest={largest[by] ?? 0} text={text} />
      ))}
    </div>
  );
}

/** A number over a bar that shows its share of the whole model. */
function Amount({ value, largest, text }: { value: number | null; largest: number; text(value: number): string }) {
  if (value === null) return <span class="number quiet" role="gridcell" />;
  const share = largest > 0 ? value / largest : 0;
  return (
    <span class="amount small" role="gridcell" title={value.toLocaleString("en-US")}>
      <span class="amount-bar" style={{ transform: `scaleX(${share})` }} />
      <span class={value === 0 ? "quiet" : undefined}>{value === 0 ? "–" : text(value)}</span>
    </span>
  );
}

function largestOf(rows: readonly ModuleRow[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { by } of COLUMNS) found[by] = rows.reduce((most, row) => Math.max(most, row[by] ?? 0), 0);
  return found;
}

/** The module that the choice in the graph is, or is in. */
function pathOfChoice(state: GraphState): string | null {
  const item = state.selected.value;
  if (item === null || item > state.model.root) return null;
  for (const box of [...boxesAround(state.model, item), item].reverse()) {
    const path = boxAt(state.model, box)?.path;
    if (path !== null && path !== undefined) return path;
  }
  return null;
}

/** The first call of a module; a container that runs nothing itself stands for the first box below it. */
function boxOf(state: GraphState, path: string): number | null {
  const { boxes } = state.model;
  const own = boxes.find((box) => box.path === path);
  const below = own ?? boxes.find((box) => box.path?.startsWith(`${path}.`));
  return below?.id ?? null;
}
