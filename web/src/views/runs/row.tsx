import { memo } from "preact/compat";
import { Checkbox, Skeleton } from "../../components";
import { Middle } from "../../components/middle";
import { ChevronDownIcon, ChevronRightIcon, EyeIcon, EyeOffIcon, WarningIcon } from "../../components/icons";
import { count, formatCell, nameText, visibleText } from "../../lib/format";
import { valueWords } from "../../lib/compare-table";
import { groupKey } from "../../lib/rows";
import type { GroupMean, RunColumn, RunGroup, RunRow } from "../../lib/schema";
import { linkTo } from "../../router";
import { hiddenSet, hovered, lookOfRun, selectedSet, toggleHidden, toggleSelected } from "../../state";
import { twinMark } from "../../twins";
import { CellContent, isNumeric } from "./cells";
import { meanIn, rows, table } from "./data";
import { endPeek, startPeek } from "./peek";
import { choose, chooseMany, chosenAmong, cursor } from "./selection";
import { columnOf, groupBy, pinnedLeft, shutGroups, widthOf } from "./settings";

export interface RowProps {
  id: string | undefined;
  index: number;
  columns: readonly RunColumn[];
}

export const Row = memo(function Row({ id, index, columns }: RowProps) {
  const kept = id === undefined ? undefined : rows.value.get(id);
  const chosen = id !== undefined && selectedSet.value.has(id);
  return (
    <div
      class="row"
      id={rowId(index)}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={chosen}
      data-cursor={cursor.value === index || undefined}
      data-run={id}
      onMouseEnter={() => (hovered.value = id ?? null)}
      onMouseLeave={() => (hovered.value = null)}
    >
      <div class="cell cell-name" role="rowheader" style={{ width: widthOf(NAME) }}>
        {kept ? <NameCell row={kept.row} chosen={chosen} index={index} /> : <Skeleton width="60%" />}
      </div>
      {columns.map((column) => (
        <div
          key={column.key}
          class={isNumeric(column) ? "cell cell-number" : "cell"}
          role="gridcell"
          data-column={column.key}
          data-source={column.source}
          data-pinned={pinnedLeft(column.key) === undefined ? undefined : ""}
          style={{ width: widthOf(column), left: pinnedLeft(column.key) }}
        >
          {kept ? (
            <CellContent column={column} kept={kept} best={isBest(column, kept.cells.get(column.key))} />
          ) : (
            <Skeleton width="50%" />
          )}
        </div>
      ))}
      <div class="cell cell-rest" role="presentation" />
    </div>
  );
});

export const NAME: RunColumn = { key: "name", label: "Name", source: "run", type: "text", distinct: 0 };

/** The element's id: the grid names the row under the keyboard by it. */
export function rowId(index: number): string {
  return `row-${index}`;
}

function isBest(column: RunColumn, value: unknown): boolean {
  const best = table.value?.best.get(column.key);
  return best !== undefined && value === best;
}

function NameCell({ row, chosen, index }: { row: RunRow; chosen: boolean; index: number }) {
  const name = nameText(row.name);
  return (
    <>
      <Checkbox
        checked={chosen}
        label={`Choose ${name}`}
        onChange={(on, event) => {
          cursor.value = index;
          choose(row.id, on, event.shiftKey);
        }}
      />
      <Swatch id={row.id} chosen={chosen} name={name} />
      <a
        class="shrinks medium isolate run-name"
        href={linkTo(`/run/${row.id}`)}
        title={name}
        aria-label={name}
        onMouseEnter={(event) => startPeek(row.id, event.currentTarget)}
        onMouseLeave={endPeek}
      >
        <Middle text={name} />
      </a>
      {twinMark(row.id) ? (
        <span class="rigid tiny quiet run-twin" title="Another run has the same name; this is the end of its id">
          {twinMark(row.id)}
        </span>
      ) : null}
      {row.findings > 0 ? (
        <span
          class="badge"
          data-tone={row.errors > 0 ? "bad" : "warn"}
          title={`${findingWords(row)}: open the run to read them`}
        >
          {row.findings}
        </span>
      ) : null}
      {row.dropped > 0 ? (
        <span class="badge" data-tone="warn" title={`${count(row.dropped, "value")} could not be recorded`}>
          <WarningIcon size={11} />
        </span>
      ) : null}
    </>
  );
}

/** The run's colour. On a chosen run it is an eye that hides its lines; on others it chooses the run. */
function Swatch({ id, chosen, name }: { id: string; chosen: boolean; name: string }) {
  const off = hiddenSet.value.has(id);
  const label = chosen ? `${off ? "Show" : "Hide"} ${name} in Charts` : `Choose ${name} for Charts`;
  return (
    <button
      type="button"
      class="swatch"
      data-chosen={chosen || undefined}
      data-off={off || undefined}
      aria-label={label}
      title={label}
      aria-pressed={chosen && !off}
      style={{ color: lookOfRun(id).colour }}
      onClick={() => (chosen ? toggleHidden(id) : toggleSelected(id, true))}
    >
      <span class="swatch-dot" />
      {chosen ? off ? <EyeOffIcon size={14} /> : <EyeIcon size={14} /> : null}
    </button>
  );
}

/** Its checkbox and the edges of its cell, in pixels. */
const BESIDE_NAME = 52;

export function GroupRow({
  group,
  shut,
  index,
  columns,
}: {
  group: RunGroup;
  shut: boolean;
  index: number;
  columns: readonly RunColumn[];
}) {
  const key = groupKey(group.value);
  const label = columnOf(groupBy.value).label;
  const chosen = chosenAmong(group.ids);
  const words = group.value === null ? "none" : visibleText(formatCell(group.value)) || "(empty)";
  const toggle = () => {
    const next = new Set(shutGroups.value);
    if (!next.delete(key)) next.add(key);
    shutGroups.value = next;
  };
  return (
    <div
      class="row row-group"
      id={rowId(index)}
      role="row"
      aria-rowindex={index + 2}
      aria-expanded={!shut}
      data-cursor={cursor.value === index || undefined}
    >
      <div class="cell cell-name cell-group" role="rowheader" style={{ width: widthOf(NAME) }}>
        <Checkbox
          checked={chosen > 0 && chosen === group.ids.length}
          mixed={chosen > 0}
          label={`Select all with ${label} ${words}`}
          onChange={(on) => chooseMany(group.ids, on)}
        />
        <button
          type="button"
          class="hstack group-toggle"
          aria-expanded={!shut}
          title={`${label} ${words}: ${count(group.count, "run")}`}
          style={{ maxWidth: roomForName(group, columns) }}
          onClick={toggle}
        >
          {shut ? <ChevronRightIcon size={14} /> : <ChevronDownIcon size={14} />}
          <span class="isolate quiet">{label}</span>
          <span class="strong isolate ellipsis">{words}</span>
          <span class="badge group-count">{group.count.toLocaleString("en-US")}</span>
        </button>
      </div>
      {columns.map((column) => (
        <div
          key={column.key}
          class={isNumeric(column) ? "cell cell-number" : "cell"}
          role="gridcell"
          data-column={column.key}
          data-pinned={pinnedLeft(column.key) === undefined ? undefined : ""}
          style={{ width: widthOf(column), left: pinnedLeft(column.key) }}
        >
          <MeanCell found={meanIn(group, column.key)} of={group.count} />
        </div>
      ))}
      <div class="cell cell-rest" role="presentation" />
    </div>
  );
}

/** A long name of a group may run over the columns beside it that are empty in its row. */
function roomForName(group: RunGroup, columns: readonly RunColumn[]): number {
  const full = columns.findIndex((column) => meanIn(group, column.key));
  const empty = full < 0 ? columns : columns.slice(0, full);
  return empty.reduce((room, column) => room + widthOf(column), widthOf(NAME) - BESIDE_NAME);
}

/** What the runs of a group reach together. A single value needs no spread; runs that broke are told, not averaged. */
function MeanCell({ found, of }: { found: GroupMean | null; of: number }) {
  if (!found) return null;
  const value = valueWords(found.mean, found.sd);
  const over =
    found.count === of ? `the mean of ${count(of, "run")}` : `the mean of ${found.count} of ${count(of, "run")}`;
  const about = [
    over,
    found.sd === null ? "" : "± their standard deviation",
    found.odd > 0 ? `${found.odd} not finite, left out` : "",
  ];
  return (
    <span class="inline gap-1 strong cell-mean" title={`${value}: ${about.filter(Boolean).join(", ")}`}>
      {found.odd > 0 ? <WarningIcon size={11} /> : null}
      {value}
    </span>
  );
}

const findingWords = ({ errors, findings }: RunRow): string =>
  [errors > 0 ? count(errors, "error") : "", findings > errors ? count(findings - errors, "warning") : ""]
    .filter(Boolean)
    .join(" and ");
