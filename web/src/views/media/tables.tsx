/** Logged tables: one run's at a time, searched, sorted, columns as wide as one likes; only rows in view are drawn. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { TextInput } from "../../components";
import { SearchIcon } from "../../components/icons";
import { fileName, saveText } from "../../charts/download";
import { tableCsv } from "../../lib/chart-csv";
import { readTable, type Table } from "../../lib/chart-payload";
import { count, formatNumber, visibleText } from "../../lib/format";
import { bytesOf } from "../../lib/media-bytes";
import { visibleSpan } from "../../lib/rows";
import type { MediaItem } from "../../lib/schema";
import { columnWidths, isPicture, rowsOf, type Sort } from "../../lib/table-rows";
import { StepNote } from "./content";
import { errorWords } from "./data";
import { useOneRun } from "./one-run";

const ROW_PX = 26;
const PICTURE_ROW_PX = 60;
const MOST_BYTES = 64 << 20;
const MOST_COLUMNS = 200;

export function Tables({ items, step }: { items: readonly MediaItem[]; step: number | null }) {
  const { item, chips } = useOneRun(items);
  const table = useTable(item);
  return (
    <div class="vstack gap-2 media-together">
      {typeof table === "string" ? (
        <>
          {chips}
          <p class="small quiet media-none">{table}</p>
        </>
      ) : table === null ? (
        <p class="small quiet media-none grid-wait" aria-busy="true">
          Reading the table…
        </p>
      ) : (
        <Grid
          key={`${item.run} ${item.key}`}
          table={table}
          item={item}
          chips={chips}
          note={<StepNote items={[item]} step={step} />}
        />
      )}
    </div>
  );
}

/** The table, or why there is none; large ones come separately. */
function useTable(item: MediaItem): Table | string | null {
  const inline = useMemo(
    () => (item.text === null ? null : (readTable(item.text) ?? "This table could not be read.")),
    [item.text],
  );
  const [fetched, setFetched] = useState<{ url: string; table: Table | string } | null>(null);
  const away = item.text === null;
  useEffect(() => {
    const url = item.url;
    if (!away || !url) return;
    const stop = new AbortController();
    bytesOf(url, { signal: stop.signal }).then(
      (bytes) =>
        setFetched({
          url,
          table:
            bytes.byteLength > MOST_BYTES
              ? "This table is too large to show; download it instead."
              : (readTable(new TextDecoder().decode(bytes)) ?? "This table could not be read."),
        }),
      (fault) => stop.signal.aborted || setFetched({ url, table: errorWords(fault) }),
    );
    return () => stop.abort();
  }, [item.url, away]);
  if (!away) return inline;
  if (!item.url) return item.error ?? "The table's bytes are not in the run folder.";
  return fetched?.url === item.url ? fetched.table : null;
}

interface GridProps {
  table: Table;
  item: MediaItem;
  chips: preact.ComponentChildren;
  note: preact.ComponentChildren;
}

function Grid({ table, item, chips, note }: GridProps) {
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<Sort | null>(null);
  const first = useMemo(() => columnWidths(table), [table.columns.join("\n")]);
  const [own, setOwn] = useState<Readonly<Record<number, number>>>({});
  const rows = useMemo(() => rowsOf(table, search, sort), [table, search, sort]);
  const columns = table.columns.slice(0, MOST_COLUMNS);
  const widths = columns.map((_, at) => own[at] ?? first[at] ?? 100);
  const template = `${widths.map((width) => `${width}px`).join(" ")} minmax(0, 1fr)`;
  const by = (column: number) =>
    setSort(sort?.column === column ? (sort.down ? null : { column, down: true }) : { column, down: false });
  const save = () =>
    saveText(
      tableCsv(
        table.columns,
        [...rows].map((at) => table.rows[at] as unknown[]),
      ),
      "text/csv",
      fileName(item.key, "csv"),
    );
  const cut = typeof item.meta.truncated === "number" && item.meta.truncated > 0 ? item.meta.truncated : 0;
  return (
    <>
      <div class="hstack wraps gap-2 small together-bar">
        {chips}
        {note}
        <TextInput
          label="Search the table"
          placeholder="Search: cat score>0.5"
          icon={<SearchIcon size={14} />}
          value={search}
          onInput={setSearch}
        />
        <span class="quiet">
          {rows.length === table.rows.length
            ? count(rows.length, "row")
            : `${rows.length.toLocaleString("en-US")} of ${count(table.rows.length, "row")}`}
          {cut ? `, ${cut.toLocaleString("en-US")} more were not kept` : ""}
          {table.columns.length > MOST_COLUMNS ? `, the first ${MOST_COLUMNS} of ${table.columns.length} columns` : ""}
        </span>
        <span class="spring" />
        <button type="button" class="link" onClick={save}>
          CSV
        </button>
      </div>
      <div
        class="clipped framed"
        role="table"
        aria-label={visibleText(item.key)}
        aria-rowcount={rows.length + 1}
        aria-colcount={table.columns.length}
      >
        <Body table={table} rows={rows} columns={columns.length} template={template}>
          <div class="rows-head grid-row grid-head" role="row" style={{ gridTemplateColumns: template }}>
            {columns.map((name, at) => (
              <span
                key={at}
                role="columnheader"
                data-number={holdsNumbers(table, at) || undefined}
                aria-sort={sort?.column !== at ? "none" : sort.down ? "descending" : "ascending"}
              >
                <button type="button" class="isolate ellipsis" title={visibleText(name)} onClick={() => by(at)}>
                  {visibleText(name)}
                  {sort?.column === at ? (sort.down ? " ↓" : " ↑") : ""}
                </button>
                <Grip width={widths[at] ?? 100} onWidth={(width) => setOwn({ ...own, [at]: width })} />
              </span>
            ))}
          </div>
        </Body>
      </div>
    </>
  );
}

/** Whether a column's cells stand at the right, by the first that holds anything. */
function holdsNumbers(table: Table, column: number): boolean {
  const first = table.rows.find((row) => row[column] !== null && row[column] !== undefined);
  return typeof first?.[column] === "number";
}

/** The edge of a column, to be dragged. */
function Grip({ width, onWidth }: { width: number; onWidth(width: number): void }) {
  const from = useRef({ x: 0, width });
  return (
    <i
      class="grid-grip"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) =>
        event.currentTarget.hasPointerCapture(event.pointerId) &&
        onWidth(Math.max(36, from.current.width + event.clientX - from.current.x))
      }
    />
  );
}

function Body({
  table,
  rows,
  columns,
  template,
  children,
}: {
  table: Table;
  rows: Uint32Array;
  columns: number;
  template: string;
  children: preact.ComponentChildren;
}) {
  const [top, setTop] = useState(0);
  const place = useRef<HTMLDivElement>(null);
  const tall = useMemo(() => table.rows.slice(0, 20).some((row) => row.some(isPicture)), [table]);
  const height = tall ? PICTURE_ROW_PX : ROW_PX;
  const span = visibleSpan(top, place.current?.clientHeight ?? 420, height, rows.length);
  useEffect(() => {
    if (place.current && place.current.scrollTop > rows.length * height) place.current.scrollTop = 0;
  }, [rows]);
  return (
    <div
      ref={place}
      class="scroll small grid-scroll"
      tabIndex={0}
      aria-label="Rows"
      role="rowgroup"
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      {children}
      <div class="grid-room" role="presentation" style={{ height: rows.length * height }}>
        {Array.from(rows.subarray(span.start, span.end), (at, i) => (
          <div
            key={at}
            class="rows-row grid-row"
            role="row"
            aria-rowindex={span.start + i + 2}
            style={{ gridTemplateColumns: template, height, top: (span.start + i) * height }}
          >
            {Array.from({ length: columns }, (_, column) => (
              <Cell key={column} value={table.rows[at]?.[column]} />
            ))}
          </div>
        ))}
      </div>
      {rows.length === 0 ? <p class="small quiet media-none">No row matches.</p> : null}
    </div>
  );
}

function Cell({ value }: { value: unknown }) {
  if (isPicture(value)) {
    return (
      <span role="cell">
        <img src={value} alt="" class="grid-picture" />
      </span>
    );
  }
  const number = typeof value === "number";
  const words =
    value === null || value === undefined
      ? ""
      : number
        ? formatNumber(value, 6)
        : visibleText(typeof value === "string" ? value : JSON.stringify(value));
  return (
    <span
      role="cell"
      class="isolate ellipsis"
      data-number={number || undefined}
      title={words.length > 20 ? words.slice(0, 500) : undefined}
    >
      {words}
    </span>
  );
}
