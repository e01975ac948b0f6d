/** Metrics by run or group: values, the best marked, the change against a baseline, and what may be chance. */

import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, copyText, IconButton, Menu, Select, TextInput, Toggle } from "../../components";
import { ArrowDownIcon, ArrowUpIcon, DownloadIcon, PinIcon, SearchIcon } from "../../components/icons";
import { fileName, saveText } from "../../charts/download";
import { metricsCsv, metricsLatex, metricsMarkdown } from "../../lib/compare-export";
import { EVERYTHING } from "../../lib/compare-by";
import { nextOrder, type Order, OWN_ORDER, shownRows } from "../../lib/compare-table";
import { count, visibleText } from "../../lib/format";
import { type Span, visibleSpan } from "../../lib/rows";
import type { MetricRow, MetricsTable } from "../../lib/schema";
import { useAnswer } from "./answer";
import { ColumnName, labelOf, useColours } from "./column-name";
import { MetricCell, type OpenCell, TestPopover } from "./metric-cell";
import { Waiting } from "./section";
import { type Stat, STATS } from "./state";

export interface MetricTableProps {
  runs: readonly string[];
  by?: readonly string[];
  base?: string;
  /** Only these; all of them when empty. */
  metrics?: readonly string[];
  stat?: Stat;
  onlyDiffering?: boolean;
  /** What a person can change here; without them the table only shows. */
  onBase?(id: string): void;
  onStat?(stat: Stat): void;
  onDiffering?(on: boolean): void;
  onBy?(by: string[]): void;
}

const ROW = 44;
/** More columns than this have one width, so that only those on the screen are drawn. */
const NATURAL = 24;
const COLUMN = 148;
const SPARE = 3;
const STAT_WORDS: Readonly<Record<Stat, string>> = {
  last: "Last value",
  best: "Best by its goal",
  min: "Least",
  max: "Greatest",
  mean: "Mean",
};

export function MetricTable(props: MetricTableProps) {
  const { runs, by = [], base = "", metrics = [], stat = "last" } = props;
  const [system, setSystem] = useState(false);
  const request = { runs: [...runs], by: [...by], base: base || null, stat, metrics: [...metrics], system };
  const answer = useAnswer("POST /api/compare/metrics", request, runs);
  if (!answer.data) return <Waiting answer={answer} height={240} />;
  return <Table {...props} table={answer.data} waiting={answer.waiting} system={system} onSystem={setSystem} />;
}

interface TableProps extends MetricTableProps {
  table: MetricsTable;
  waiting: boolean;
  system: boolean;
  onSystem(on: boolean): void;
}

function Table({ table, waiting, system, onSystem, ...props }: TableProps) {
  const [find, setFind] = useState("");
  const [order, setOrder] = useState<Order>(OWN_ORDER);
  const { columns } = table.compared;
  const base = Math.max(
    0,
    columns.findIndex((column) => column.id === table.base),
  );
  const rows = useMemo(
    () => shownRows(table.rows, find, props.onlyDiffering ?? false, order, base),
    [table, find, props.onlyDiffering, order, base],
  );
  const places = useMemo(() => {
    const all = columns.map((_, at) => at);
    return all.length > NATURAL ? [base, ...all.filter((at) => at !== base)] : all;
  }, [columns, base]);
  if (columns.length === 0) return <p class="quiet">None of these runs is in this store any more.</p>;
  if (table.rows.length === 0) return <p class="quiet">These runs have logged no metrics.</p>;
  return (
    <div class="vstack gap-2 shrinks metric-table" aria-busy={waiting}>
      <div class="hstack wraps compare-tools">
        <TextInput
          label="Find a metric"
          placeholder="Find a metric"
          icon={<SearchIcon size={14} />}
          value={find}
          onInput={setFind}
        />
        {props.onStat ? (
          <Select
            label="Value shown for each run"
            value={props.stat ?? "last"}
            options={STATS.map((value) => ({ value, label: STAT_WORDS[value] }))}
            onChange={props.onStat}
          />
        ) : null}
        {props.onDiffering ? (
          <Toggle label="Only differences" checked={props.onlyDiffering ?? false} onChange={props.onDiffering} />
        ) : null}
        <Toggle label="Machine too" checked={system} onChange={onSystem} />
        <span class="quiet">
          {rows.length === table.rows.length
            ? count(rows.length, "metric")
            : `${rows.length} of ${count(table.rows.length, "metric")}`}
        </span>
        <span class="spring" />
        <ExportMenu table={table} rows={rows} base={base} />
      </div>
      <Grid {...props} table={table} rows={rows} places={places} base={base} order={order} onOrder={setOrder} />
      <Footnotes table={table} {...(props.onBy ? { onBy: props.onBy } : {})} />
    </div>
  );
}

interface GridProps extends Omit<MetricTableProps, "base"> {
  table: MetricsTable;
  rows: readonly MetricRow[];
  places: readonly number[];
  base: number;
  order: Order;
  onOrder(order: Order): void;
}

function Grid({ table, rows, places, base, order, onOrder, ...props }: GridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const wide = places.length > NATURAL;
  const [span, setSpan] = useState<Span>(() => visibleSpan(0, 600, ROW, rows.length, 8));
  const [across, setAcross] = useState<Span>({ start: 0, end: NATURAL });
  const [open, setOpen] = useState<OpenCell | null>(null);
  const colours = useColours(table.compared);
  const look = () => {
    const element = scroller.current;
    if (!element) return;
    const next = visibleSpan(element.scrollTop, element.clientHeight, ROW, rows.length, 8);
    setSpan((old) => same(old, next));
    const beside = visibleSpan(element.scrollLeft, element.clientWidth, COLUMN, places.length, SPARE, 2);
    setAcross((old) => same(old, beside));
  };
  useEffect(look, [rows.length, places.length]);
  const shown = useMemo(() => (wide ? places.slice(across.start, across.end) : places), [places, wide, across]);
  const [before, after] = wide
    ? [across.start * COLUMN, (places.length - Math.min(across.end, places.length)) * COLUMN]
    : [0, 0];
  const onClick = (event: MouseEvent) => {
    const anchor = event.target instanceof Element ? event.target.closest<HTMLElement>("button.metric-cell") : null;
    const row = anchor ? rows.find((one) => one.key === anchor.closest("tr")?.dataset.key) : undefined;
    if (anchor && row) setOpen(open?.anchor === anchor ? null : { row, at: Number(anchor.dataset.at), anchor });
  };
  const { columns } = table.compared;
  const grouped = table.compared.by.length > 0;
  const arrow = (by: Order["by"]) =>
    order.by === by ? (
      order.descending === (by !== "name") ? (
        <ArrowDownIcon size={12} />
      ) : (
        <ArrowUpIcon size={12} />
      )
    ) : null;
  return (
    <div
      ref={scroller}
      class="metric-grid"
      data-wide={wide || undefined}
      tabIndex={0}
      role="region"
      aria-label="Metrics by run"
      onScroll={look}
      onClick={onClick}
    >
      <table aria-rowcount={rows.length + 1} aria-colcount={places.length + 1}>
        <thead>
          <tr>
            <th scope="col" class="metric-corner">
              <button type="button" onClick={() => onOrder(nextOrder(order, "name"))} title="Order by name">
                Metric {arrow("name")}
              </button>
            </th>
            <Gap width={before} head />
            {shown.map((at) => {
              const column = columns[at];
              if (!column) return null;
              const isBase = at === base;
              return (
                <th key={column.id} scope="col" data-base={isBase || undefined}>
                  <span class="hstack metric-head">
                    {props.onBase && !isBase ? (
                      <IconButton
                        label={`Compare with ${labelOf(column)}`}
                        class="metric-pin"
                        onClick={() => props.onBase?.(column.id)}
                      >
                        <PinIcon size={12} />
                      </IconButton>
                    ) : null}
                    <button
                      type="button"
                      class="metric-order"
                      title={isBase ? labelOf(column) : "Order by the size of the change"}
                      onClick={() => !isBase && onOrder(nextOrder(order, at))}
                    >
                      <ColumnName column={column} colour={colours.get(column.id)} /> {arrow(at)}
                    </button>
                  </span>
                  {isBase && columns.length > 1 ? <span class="tiny quiet metric-base">baseline</span> : null}
                </th>
              );
            })}
            <Gap width={after} head />
          </tr>
        </thead>
        <tbody>
          {span.start > 0 ? <tr style={{ height: span.start * ROW }} aria-hidden="true" /> : null}
          {rows.slice(span.start, span.end).map((row, index) => (
            <Row
              key={row.key}
              row={row}
              index={span.start + index}
              places={shown}
              before={before}
              after={after}
              base={base}
              grouped={grouped}
              stat={props.stat ?? "last"}
            />
          ))}
          {span.end < rows.length ? <tr style={{ height: (rows.length - span.end) * ROW }} aria-hidden="true" /> : null}
        </tbody>
      </table>
      {rows.length === 0 ? <p class="compare-note">No metric matches.</p> : null}
      {open ? (
        <TestPopover
          open={open}
          base={base}
          ask={{ runs: props.runs, by: props.by ?? [], stat: props.stat ?? "last", columns }}
          onClose={() => setOpen(null)}
        />
      ) : null}
    </div>
  );
}

interface RowProps {
  row: MetricRow;
  index: number;
  places: readonly number[];
  /** The width of columns that are not drawn, on either side. */
  before: number;
  after: number;
  base: number;
  grouped: boolean;
  stat: Stat;
}

/** Drawn once, however often the table scrolls. */
const Row = memo(function Row({ row, index, places, before, after, base, grouped, stat }: RowProps) {
  return (
    <tr aria-rowindex={index + 2} data-key={row.key}>
      <th scope="row" title={visibleText(row.key)}>
        <span class="clipped medium isolate metric-key">{visibleText(row.key)}</span>
        <GoalMark row={row} stat={stat} />
      </th>
      <Gap width={before} />
      {places.map((at) => (
        <MetricCell key={at} row={row} at={at} base={base} grouped={grouped} />
      ))}
      <Gap width={after} />
    </tr>
  );
});

/** Holds the place of columns that are off the screen. */
function Gap({ width, head = false }: { width: number; head?: boolean }) {
  if (width <= 0) return null;
  const style = { width, minWidth: width, maxWidth: width };
  return head ? <th class="metric-gap" style={style} aria-hidden="true" /> : <td style={style} aria-hidden="true" />;
}

const same = (old: Span, next: Span): Span => (old.start === next.start && old.end === next.end ? old : next);

function GoalMark({ row, stat }: { row: MetricRow; stat: Stat }) {
  const words = [
    row.goal ? (row.goal === "min" ? "lower is better" : "higher is better") : "",
    stat === "best" || stat !== row.stat ? row.stat : "",
  ].filter(Boolean);
  return words.length ? <span class="block tiny quiet metric-goal">{words.join(" · ")}</span> : null;
}

function ExportMenu({ table, rows, base }: { table: MetricsTable; rows: readonly MetricRow[]; base: number }) {
  const made = () => ({
    columns: table.compared.columns.map(labelOf),
    base,
    rows,
    grouped: table.compared.by.length > 0,
  });
  const save = (text: string, type: string, ending: string) => saveText(text, type, fileName("comparison", ending));
  return (
    <Menu
      label="Export the table"
      align="end"
      buttonClass="button"
      button={
        <>
          <DownloadIcon size={14} /> Export
        </>
      }
      items={[
        { key: "csv", label: "CSV", hint: "every digit", onPick: () => save(metricsCsv(made()), "text/csv", "csv") },
        { key: "md", label: "Markdown", onPick: () => save(`${metricsMarkdown(made())}\n`, "text/markdown", "md") },
        {
          key: "tex",
          label: "LaTeX",
          hint: "booktabs",
          onPick: () => save(`${metricsLatex(made())}\n`, "application/x-tex", "tex"),
        },
        {
          key: "copy",
          label: "Copy as Markdown",
          onPick: () => void copyText(metricsMarkdown(made()), "Table copied as Markdown"),
        },
        {
          key: "copytex",
          label: "Copy as LaTeX",
          onPick: () => void copyText(metricsLatex(made()), "Table copied as LaTeX"),
        },
      ]}
    />
  );
}

/** What the numbers are, and how the tests were made. */
function Footnotes({ table, onBy }: { table: MetricsTable; onBy?(by: string[]): void }) {
  const grouped = table.compared.by.length > 0;
  const odd = table.rows.some((row) => row.odd.length > 0);
  return (
    <div class="compare-note">
      {grouped ? (
        <p>
          Means over the runs of a group, ± their standard deviation.{" "}
          {table.tests > 0
            ? `p is Welch's t-test against the baseline, two-sided, corrected by Holm for all ${count(table.tests, "test")} of this table; bold below 0.05. Click a cell for its numbers.`
            : "No group has two runs to set against two of the baseline, so nothing is tested."}
          {odd ? " Values that are not finite are left out of means and tests, and counted in red." : ""}
        </p>
      ) : table.compared.columns.length > 1 ? (
        <p>
          With one run per column, chance cannot be ruled out.{" "}
          {onBy ? (
            <Button kind="quiet" onClick={() => onBy([EVERYTHING])}>
              Group runs that differ only in their seed
            </Button>
          ) : null}
        </p>
      ) : null}
      {table.omitted > 0 ? (
        <p>
          {count(table.omitted, "more metric")} not shown: the table holds {table.rows.length}.
        </p>
      ) : null}
      {table.compared.omitted > 0 ? (
        <p>{count(table.compared.omitted, "more column")} left out: choose fewer runs, or group them.</p>
      ) : null}
      {table.compared.gone.length > 0 ? (
        <p>{count(table.compared.gone.length, "selected run")} not in this store any more.</p>
      ) : null}
    </div>
  );
}
