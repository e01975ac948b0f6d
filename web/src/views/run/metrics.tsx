/** Every metric of a run: what it came to, and its line in small. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, copyText, IconButton } from "../../components";
import { ArrowDownIcon, ArrowUpIcon, CopyIcon } from "../../components/icons";
import { call } from "../../lib/api";
import { exactNumber, formatCell, visibleText } from "../../lib/format";
import {
  isOdd,
  lastOf,
  type MetricColumn,
  type MetricOrder,
  metricsText,
  nextOrder,
  searchMetrics,
  sortMetrics,
} from "../../lib/metric-rows";
import type { Cell, RunDetail, SummaryValue } from "../../lib/schema";
import { SparkLine } from "../runs/spark";
import { CardSearch, NothingFits, Section } from "./pieces";
import { goPart, linkToPart } from "./place";

const FIRST_ROWS = 30;
const MORE_ROWS = 500;
const COLUMNS: readonly (readonly [MetricColumn, string])[] = [
  ["key", "Name"],
  ["last", "Last"],
  ["min", "Min"],
  ["max", "Max"],
  ["mean", "Mean"],
  ["points", "Points"],
]; // prettier-ignore

export function Metrics({ run }: { run: RunDetail }) {
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<MetricOrder>({ by: null, down: false });
  const [room, setRoom] = useState(FIRST_ROWS);
  const own = useMemo(() => run.summary.filter((value) => !value.key.startsWith("system/")), [run.summary]);
  if (own.length === 0) {
    return (
      <Section title="Metrics">
        <p class="anywhere quiet card-none">
          Nothing was logged{run.status === "running" ? " yet" : ""}. <code>run.log({'{"loss": loss}'})</code> adds a
          point; under <code>stepscope run</code> loss, gradient norm and learning rate come by themselves.
        </p>
      </Section>
    );
  }
  const found = sortMetrics(searchMetrics(own, search), order);
  const shown = found.slice(0, room);
  return (
    <Section
      title="Metrics"
      aside={
        <>
          <span class="quiet">{own.length.toLocaleString("en-US")}</span>
          <CardSearch title="Metrics" amount={own.length} value={search} onInput={setSearch} />
          <IconButton label="Copy the table" onClick={() => void copyText(metricsText(found), "Table copied")}>
            <CopyIcon size={14} />
          </IconButton>
        </>
      }
    >
      <MetricTable run={run} values={shown} order={order} onOrder={(column) => setOrder(nextOrder(order, column))} />
      {found.length === 0 ? <NothingFits search={search} /> : null}
      {found.length > shown.length ? (
        <div class="px-2 py-1 over">
          <Button kind="quiet" onClick={() => setRoom(room + MORE_ROWS)}>
            {found.length - shown.length <= MORE_ROWS
              ? `Show all ${found.length.toLocaleString("en-US")}`
              : `Show ${MORE_ROWS} more of ${found.length.toLocaleString("en-US")}`}
          </Button>
        </div>
      ) : null}
    </Section>
  );
}

interface TableProps {
  run: RunDetail;
  values: readonly SummaryValue[];
  order: MetricOrder;
  onOrder(column: MetricColumn): void;
}

function MetricTable({ run, values, order, onOrder }: TableProps) {
  const sparks = useSparks(run, values);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Metrics">
      <table class="table-hover table metrics">
        <thead>
          <tr>
            {COLUMNS.map(([column, label]) => (
              <Heading key={column} column={column} label={label} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {values.map((value) => (
            <Row key={value.key} run={run} value={value} spark={sparks.get(value.key)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heading({
  column,
  label,
  order,
  onOrder,
}: {
  column: MetricColumn;
  label: string;
  order: MetricOrder;
  onOrder(column: MetricColumn): void;
}) {
  const sorted = order.by === column;
  const head = (
    <th
      scope="col"
      class={column === "key" ? "" : "number"}
      aria-sort={sorted ? (order.down ? "descending" : "ascending") : undefined}
    >
      <button type="button" onClick={() => onOrder(column)}>
        {label}
        {sorted ? order.down ? <ArrowDownIcon size={11} /> : <ArrowUpIcon size={11} /> : null}
      </button>
    </th>
  );
  if (column !== "key") return head;
  return (
    <>
      {head}
      <th scope="col" class="metric-spark">
        <span class="visually-hidden">Line</span>
      </th>
    </>
  );
}

function Row({
  run,
  value,
  spark,
}: {
  run: RunDetail;
  value: SummaryValue;
  spark: readonly (number | null)[] | undefined;
}) {
  const drawn = value.points > 0;
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    goPart("charts", { full: value.key });
  };
  return (
    <tr>
      <th scope="row" class="isolate ellipsis" title={visibleText(value.key)}>
        {drawn ? (
          <a href={linkToPart(run.id, "charts", { full: value.key })} onClick={open}>
            {visibleText(value.key)}
          </a>
        ) : (
          <>
            {visibleText(value.key)} <span class="quiet">set by hand</span>
          </>
        )}
      </th>
      <td class="metric-spark" aria-hidden="true">
        {spark ? <SparkLine id={run.id} values={spark} /> : null}
      </td>
      <NumberCell value={lastOf(value)} strong />
      <NumberCell value={value.min} />
      <NumberCell value={value.max} />
      <NumberCell value={value.mean} />
      <td class="number">
        {drawn ? value.points.toLocaleString("en-US") : ""}
        {value.nonfinite > 0 ? (
          <span class="medium bad" title={`${value.nonfinite.toLocaleString("en-US")} of them NaN or infinite`}>
            {" "}
            ({value.nonfinite.toLocaleString("en-US")} not finite)
          </span>
        ) : null}
      </td>
    </tr>
  );
}

function NumberCell({ value, strong = false }: { value: Cell; strong?: boolean }) {
  const odd = isOdd(value);
  return (
    <td
      class={`number${odd ? " medium bad" : ""}${strong ? " metric-last" : ""}`}
      title={typeof value === "number" ? exactNumber(value) : undefined}
    >
      {formatCell(value) || "–"}
    </td>
  );
}

const SPARK_BUCKETS = 40;
const KEYS_AT_ONCE = 60;
const REST_MS = 4000;

/** Small lines of the rows that are shown, asked for in a few requests, and again while the run goes on. */
function useSparks(run: RunDetail, values: readonly SummaryValue[]): ReadonlyMap<string, readonly (number | null)[]> {
  const [sparks, setSparks] = useState<ReadonlyMap<string, readonly (number | null)[]>>(new Map());
  const asked = useRef(new Map<string, number>());
  const here = useRef(true);
  useEffect(() => () => void (here.current = false), []);
  useEffect(() => {
    const now = Date.now();
    const isDue = (when: number | undefined) => when === undefined || now - when > REST_MS;
    const keys = values.filter(({ key, points }) => points > 1 && isDue(asked.current.get(key))).map(({ key }) => key);
    for (const key of keys) asked.current.set(key, now);
    const load = async () => {
      for (let at = 0; at < keys.length && here.current; at += KEYS_AT_ONCE) {
        const some = keys.slice(at, at + KEYS_AT_ONCE);
        const { lines } = await call("POST /api/series", { runs: [run.id], keys: some, buckets: SPARK_BUCKETS });
        const found = lines.filter((line) => !line.superseded).map((line) => [line.key, line.value] as const);
        if (here.current) setSparks((old) => new Map([...old, ...found]));
      }
    };
    load().catch(() => undefined); // the numbers beside them stand for themselves
  }, [run.version, values.map(({ key }) => key).join("\u0000")]);
  return sparks;
}
