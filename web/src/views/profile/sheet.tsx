/**
 * A table that knows what its numbers are: sort, filter, choose columns, open a tree, export. Ten thousand rows scroll.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { TextInput } from "../../components";
import { ArrowDownIcon, ArrowUpIcon, SearchIcon } from "../../components/icons";
import { count, visibleText } from "../../lib/format";
import { formatShare, formatUnit, isNumeric } from "../../lib/profile-format";
import { scrollToShow, type Span, visibleSpan } from "../../lib/rows";
import type { Column, Sheet } from "../../lib/schema";
import { readChoice, shownColumns, tracks } from "../../lib/sheet-columns";
import { patternsReady } from "../../lib/pattern";
import * as view from "../../lib/sheet-rows";
import { readStored, writeStored } from "../../lib/stored";
import { SheetColumns, SheetExport } from "./sheet-menus";
import { SheetRow } from "./sheet-row";
import { RowDetails } from "./sheet-details";
import { Checks, Notes } from "./words";

const ROW = 28;

export interface SheetProps {
  sheet: Sheet;
  /** Rows of the whole sheet, where the server sent only the first. */
  rows?: number;
  /** A choice between sheets, in the place of the title. */
  pills?: ComponentChildren;
  /** Where the server has all of it as CSV; without it the page writes what it has. */
  csv?: string;
  /** The table takes all the height there is. */
  fill?: boolean;
  /** What choosing a row does, instead of showing all of it. */
  onRow?(row: number): void;
}

export function SheetTable({ sheet, rows = sheet.rows.length, pills, csv, fill = false, onRow }: SheetProps) {
  const tree = useMemo(() => view.sheetTree(sheet), [sheet]);
  const [open, setOpen] = useState<ReadonlySet<number>>(() => view.openRows(tree));
  const [order, setOrder] = useState(view.OWN_ORDER);
  const [text, setText] = useState("");
  const [choice, setChoice] = useState(() => readChoice(readStored(`sheet.${sheet.id}`)));
  const [at, setAt] = useState<number | null>(null);
  const [details, setDetails] = useState(false);
  useEffect(() => (setOpen(view.openRows(tree)), setOrder(view.OWN_ORDER), setAt(null), setDetails(false)), [sheet]);
  const filter = useMemo(() => view.filterRows(tree, text), [tree, text, patternsReady.value]);
  const seen = useMemo(() => view.rowsToShow(tree, open, order, filter), [tree, open, order, filter]);
  const columns = useMemo(() => shownColumns(sheet.columns, choice), [sheet, choice]);
  const toggle = (row: number) => {
    const next = new Set(open);
    if (!next.delete(row)) next.add(row);
    setOpen(next);
  };
  return (
    <section class="sheet" data-fill={fill || undefined} aria-label={visibleText(sheet.title)}>
      <header class="hstack gap-2 rigid sheet-bar">
        {pills ?? <h2 class="isolate">{visibleText(sheet.title)}</h2>}
        <span class="quiet">{sizeWords(sheet, rows, filter, text)}</span>
        <span class="spring" />
        <TextInput
          class="sheet-filter"
          label={`Filter: ${sheet.title}`}
          placeholder="Filter"
          title="Words that must occur; !word must not; /pattern/ is a regular expression"
          icon={<SearchIcon size={12} />}
          value={text}
          bad={filter.error !== null}
          onInput={setText}
          onKeyDown={(event) => event.key === "Escape" && (setText(""), event.currentTarget.blur())}
        />
        <SheetColumns
          columns={sheet.columns}
          choice={choice}
          onChange={(next) => (setChoice(next), writeStored(`sheet.${sheet.id}`, JSON.stringify(next)))}
        />
        <SheetExport sheet={sheet} rows={seen} columns={columns} csv={csv} />
      </header>
      {filter.error ? (
        <p class="small bad" role="alert">
          {filter.error}
        </p>
      ) : null}
      <Grid
        tree={tree}
        seen={seen}
        columns={columns}
        order={view.markedOrder(order, sheet)}
        onSort={(column) => setOrder(view.nextOrder(order, column, sheet))}
        open={open}
        isFiltered={filter.kept !== null}
        onToggle={toggle}
        at={at}
        onAt={setAt}
        onDetails={(row) => {
          if (row !== null) setAt(row);
          if (onRow) return row === null ? undefined : onRow(row);
          setDetails(row !== null && !(details && row === at));
        }}
        totals={<Totals tree={tree} filter={filter} columns={columns} />}
      />
      {details && at !== null ? <RowDetails sheet={sheet} row={at} onClose={() => setDetails(false)} /> : null}
      <Checks checks={sheet.checks ?? []} />
      <Notes notes={sheet.notes ?? []} />
    </section>
  );
}

function sizeWords(sheet: Sheet, rows: number, filter: view.SheetFilter, text: string): string {
  if (text.trim() && !filter.error)
    return `${filter.hits.toLocaleString("en-US")} of ${count(sheet.rows.length, "row")}`;
  return rows > sheet.rows.length
    ? `the first ${count(sheet.rows.length, "row")} of ${rows.toLocaleString("en-US")}`
    : count(rows, "row");
}

interface GridProps {
  tree: view.SheetTree;
  seen: readonly number[];
  columns: readonly number[];
  order: view.SheetOrder;
  onSort(column: Column): void;
  open: ReadonlySet<number>;
  isFiltered: boolean;
  onToggle(row: number): void;
  at: number | null;
  onAt(row: number): void;
  onDetails(row: number | null): void;
  totals: ComponentChildren;
}

function Grid({
  tree,
  seen,
  columns,
  order,
  onSort,
  open,
  isFiltered,
  onToggle,
  at,
  onAt,
  onDetails,
  totals,
}: GridProps) {
  const { sheet } = tree;
  const box = useRef<HTMLDivElement>(null);
  const [span, setSpan] = useState<Span>({ start: 0, end: 40 });
  const { grid, least } = useMemo(() => tracks(sheet, columns), [sheet, columns]);
  const most = useMemo(() => view.largest(sheet), [sheet]);
  const measure = () => {
    const element = box.current;
    if (!element) return;
    const next = visibleSpan(element.scrollTop, element.clientHeight, ROW, seen.length);
    setSpan((now) => (now.start === next.start && now.end === next.end ? now : next));
  };
  useEffect(() => {
    const watch = new ResizeObserver(measure);
    if (box.current) watch.observe(box.current);
    measure();
    return () => watch.disconnect();
  }, [seen.length]);
  const goTo = (index: number) => {
    const row = seen[Math.max(0, Math.min(seen.length - 1, index))];
    if (row === undefined || !box.current) return;
    onAt(row);
    box.current.scrollTop = scrollToShow(
      seen.indexOf(row),
      box.current.scrollTop,
      box.current.clientHeight - 2 * ROW,
      ROW,
    );
  };
  const onKey = (event: KeyboardEvent) => {
    const index = at === null ? -1 : seen.indexOf(at);
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / ROW) - 2);
    const moves: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: seen.length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) goTo(to);
    else if (at !== null && event.key === "Enter") onDetails(at);
    else if (event.key === "Escape") onDetails(null);
    else if (at !== null && (event.key === "ArrowRight" || event.key === "ArrowLeft"))
      sideways(event.key === "ArrowRight", at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const sideways = (right: boolean, row: number) => {
    const has = (tree.children[row]?.length ?? 0) > 0;
    if (has && open.has(row) !== right && !isFiltered) onToggle(row);
    else if (right && has) goTo(seen.indexOf(row) + 1);
    else if (!right && (tree.parent[row] ?? -1) >= 0) goTo(seen.indexOf(tree.parent[row] as number));
  };
  return (
    <div
      ref={box}
      class="anchor scroll framed sheet-grid"
      tabIndex={0}
      role={view.isTree(tree) ? "treegrid" : "grid"}
      aria-label={visibleText(sheet.title)}
      aria-rowcount={seen.length}
      style={{ "--tracks": grid, "--least": least }}
      onScroll={measure}
      onKeyDown={onKey}
    >
      <div class="rows-head sheet-head" role="row">
        {columns.map((index, at) => (
          <HeadCell
            key={index}
            column={sheet.columns[index] as Column}
            right={at > 0 && isNumeric(sheet.columns[index]?.unit)}
            order={order}
            onSort={onSort}
          />
        ))}
      </div>
      <div class="anchor" style={{ height: `${seen.length * ROW}px` }}>
        {seen.slice(span.start, span.end).map((row, index) => (
          <SheetRow
            key={row}
            sheet={sheet}
            row={row}
            top={(span.start + index) * ROW}
            columns={columns}
            most={most}
            sorted={order.by}
            depth={tree.depth(row)}
            open={
              (tree.children[row]?.length ?? 0) > 0 ? isFiltered || open.has(row) : view.isTree(tree) ? null : undefined
            }
            chosen={row === at}
            onToggle={onToggle}
            onPick={onDetails}
          />
        ))}
      </div>
      {seen.length === 0 ? <p class="none">{isFiltered ? "No row matches." : "There are no rows."}</p> : null}
      {totals}
    </div>
  );
}

function HeadCell({
  column,
  right,
  order,
  onSort,
}: {
  column: Column;
  right: boolean;
  order: view.SheetOrder;
  onSort(column: Column): void;
}) {
  const on = order.by === column.key;
  const arrow = on ? order.down ? <ArrowDownIcon size={11} /> : <ArrowUpIcon size={11} /> : null;
  return (
    <button
      type="button"
      role="columnheader"
      tabIndex={-1}
      class={right ? "number" : undefined}
      aria-sort={on ? (order.down ? "descending" : "ascending") : "none"}
      title={column.help ? visibleText(`${column.label}: ${column.help}`) : visibleText(column.label)}
      onClick={() => onSort(column)}
    >
      {right ? arrow : null}
      <span class="ellipsis isolate">{visibleText(column.label)}</span>
      {right ? null : arrow}
    </button>
  );
}

function Totals({
  tree,
  filter,
  columns,
}: {
  tree: view.SheetTree;
  filter: view.SheetFilter;
  columns: readonly number[];
}) {
  const sums = useMemo(() => view.totals(tree, filter), [tree, filter]);
  if (!columns.some((at) => sums[at]) || tree.sheet.rows.length < 2) return null;
  return (
    <div class="strong subtle sheet-totals" role="row">
      {columns.map((at, index) => {
        const total = sums[at];
        const column = tree.sheet.columns[at];
        if (!total)
          return (
            <span key={at} role="gridcell">
              {index === 0 ? (filter.kept ? "Sum of matching rows" : "Sum") : ""}
            </span>
          );
        const part = filter.kept ? ` (${formatShare(total.share)} of all)` : "";
        return (
          <span
            key={at}
            role="gridcell"
            class="number"
            title={`${column?.label}: the sum of ${filter.kept ? "the matching rows" : "all rows"}${part}`}
          >
            {formatUnit(total.sum, column?.unit)}
          </span>
        );
      })}
    </div>
  );
}
