/** What stands in a cell, by the kind of its column. */

import { StatusDot } from "../../components";
import { WarningIcon } from "../../components/icons";
import { now } from "../../clock";
import {
  exactNumber,
  formatAge,
  formatCell,
  formatDuration,
  formatMetric,
  formatTimeZone,
  visibleText,
} from "../../lib/format";
import type { Cell, RunColumn, RunRow } from "../../lib/schema";
import type { KeptRow } from "./data";
import { AliveCell } from "./alive-cell";
import { filterBy, FilterValue, isFilter } from "./filter-value";
import { NotesCell } from "./notes";
import { SparkLine } from "./spark";
import { TagsCell } from "./tags";

/** Numbers stand at the right, so that their digits are under each other. */
export function isNumeric(column: RunColumn): boolean {
  return column.type === "number" || column.type === "duration";
}

export function CellContent({ column, kept, best }: { column: RunColumn; kept: KeptRow; best: boolean }) {
  const { row } = kept;
  switch (column.key) {
    case "status":
      return (
        <FilterValue column={column} value={row.status}>
          <StatusDot status={row.status} />
          {isDiverged(row) ? (
            <span class="status-odd" title="Diverged: the last value of its main metric is NaN or infinite">
              <WarningIcon size={12} />
              <span class="visually-hidden">diverged</span>
            </span>
          ) : null}
        </FilterValue>
      );
    case "alive":
      return <AliveCell row={row} />;
    case "spark":
      return <SparkLine id={row.id} values={row.spark} />;
    case "created":
      return <Age time={row.created} />;
    case "duration":
      return <Duration kept={kept} />;
    case "tags":
      return <TagsCell id={row.id} tags={row.tags} onPick={(tag) => filterBy("tags", tag)} />;
    case "notes":
      return <NotesCell id={row.id} notes={row.notes} />;
    case "project":
      return (
        <FilterValue column={column} value={row.project}>
          <Words text={row.project} />
        </FilterValue>
      );
    default:
      return <Value column={column} value={kept.cells.get(column.key)} best={best} />;
  }
}

/** The main metric ended in NaN or Inf: `finished` alone would be a green light for a broken run. */
const isDiverged = ({ spark }: RunRow): boolean => spark.length > 0 && spark.at(-1) === null;

function Value({ column, value, best }: { column: RunColumn; value: Cell | undefined; best: boolean }) {
  if (value === null || value === undefined || value === "") return <span class="cell-none">–</span>;
  if (!isFilter(column)) return <Plain column={column} value={value} best={best} />;
  return (
    <FilterValue column={column} value={value}>
      <Plain column={column} value={value} best={best} />
    </FilterValue>
  );
}

function Plain({ column, value, best }: { column: RunColumn; value: Exclude<Cell, null>; best: boolean }) {
  if (typeof value === "number") {
    if (column.type === "time") return <Age time={value} />;
    if (column.type === "duration") return <span title={`${exactNumber(value)} s`}>{formatDuration(value)}</span>;
    return (
      <span
        class={best ? "strong good cell-best" : undefined}
        title={best ? `${exactNumber(value)}, the best of these runs` : exactNumber(value)}
      >
        {column.source === "metric" ? formatMetric(value) : formatCell(value)}
      </span>
    );
  }
  if (value === "NaN" || value === "Infinity" || value === "-Infinity")
    return <span class="medium bad">{formatCell(value)}</span>;
  return <Words text={formatCell(value)} />;
}

export function Words({ text }: { text: string }) {
  const shown = visibleText(text);
  return (
    <span class="isolate ellipsis" title={shown}>
      {shown}
    </span>
  );
}

function Age({ time }: { time: number }) {
  return <span title={formatTimeZone(time)}>{formatAge(time, now.value)}</span>;
}

/** A running run's duration goes on between two answers of the server. */
export function Duration({ kept }: { kept: KeptRow }) {
  const { row, at } = kept;
  if (row.status !== "running")
    return <span title={`${row.duration_s.toFixed(1)} s`}>{formatDuration(row.duration_s)}</span>;
  const seconds = row.duration_s + Math.max(0, now.value - at);
  return <span class="cell-live">{formatDuration(seconds < 10 ? Math.floor(seconds) : seconds)}</span>;
}
