/** The menu of a heading: order, groups, place, filter and statistics of its column. */

import { useEffect, useState } from "preact/hooks";
import { Button, Checkbox, Popover, Skeleton, TextInput } from "../../components";
import { ArrowDownIcon, ArrowUpIcon, EyeOffIcon, GroupIcon, PaletteIcon, PinIcon } from "../../components/icons";
import { call, isAbort } from "../../lib/api";
import { count, formatAge, formatCell, formatDuration, formatNumber, visibleText } from "../../lib/format";
import { inProject } from "../../lib/query";
import { asksFor, withRange } from "../../lib/query-terms";
import type { Cell, ColumnStats, ColumnValues, RunColumn } from "../../lib/schema";
import { now } from "../../clock";
import { colorBy } from "../../color-by";
import { project } from "../../state";
import { filterBy } from "./filter-value";
import { archived, groupBy, pinnedColumns, query, setColumns, shownKeys, sort, togglePinned } from "./settings";

const MOST_LISTED = 12;

export function HeadMenu({
  column,
  anchor,
  onClose,
}: {
  column: RunColumn;
  anchor: HTMLElement | null;
  onClose(): void;
}) {
  const found = useValues(column.key);
  const done = (act: () => void) => () => {
    act();
    onClose();
  };
  const pinned = pinnedColumns.value.includes(column.key);
  const grouped = groupBy.value === column.key;
  const colored = colorBy.value === column.key;
  return (
    <Popover anchor={anchor} label={`Column ${visibleText(column.label)}`} class="head-menu" onClose={onClose}>
      <div class="menu" role="menu">
        <Item icon={<ArrowUpIcon size={14} />} onPick={done(() => (sort.value = column.key))}>
          Sort, smallest first
        </Item>
        <Item icon={<ArrowDownIcon size={14} />} onPick={done(() => (sort.value = `-${column.key}`))}>
          Sort, largest first
        </Item>
        <Item icon={<GroupIcon size={14} />} onPick={done(() => (groupBy.value = grouped ? "" : column.key))}>
          {grouped ? "Stop grouping" : "Group by this"}
        </Item>
        {column.source === "config" ? (
          <Item icon={<PaletteIcon size={14} />} onPick={done(() => (colorBy.value = colored ? "" : column.key))}>
            {colored ? "Give runs their own colors" : "Color runs by this"}
          </Item>
        ) : null}
        {column.key === "name" ? null : (
          <>
            <Item icon={<PinIcon size={14} />} onPick={done(() => togglePinned(column.key))}>
              {pinned ? "Unpin" : "Pin to the left"}
            </Item>
            <Item
              icon={<EyeOffIcon size={14} />}
              onPick={done(() => setColumns(shownKeys.peek().filter((key) => key !== column.key)))}
            >
              Hide
            </Item>
          </>
        )}
      </div>
      {found === null ? <Skeleton width="80%" /> : <Values column={column} found={found} />}
    </Popover>
  );
}

function Item({
  icon,
  onPick,
  children,
}: {
  icon: preact.ComponentChildren;
  onPick(): void;
  children: preact.ComponentChildren;
}) {
  return (
    <button type="button" class="menu-item" role="menuitem" onClick={onPick}>
      <span class="menu-icon">{icon}</span>
      <span class="menu-label">{children}</span>
    </button>
  );
}

/** Of all runs of the project: what a filter hides must still be there to be chosen. */
function useValues(key: string): ColumnValues | null {
  const [found, setFound] = useState<ColumnValues | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    call(
      "POST /api/column",
      { key, query: inProject(project.peek(), "").query, archived: archived.peek() },
      { signal: stop.signal },
    ).then(setFound, (fault: unknown) => {
      if (!isAbort(fault)) setFound({ runs: 0, missing: 0, distinct: 0, values: [], stats: null, odd: 0 });
    });
    return () => stop.abort();
  }, [key]);
  return found;
}

function Values({ column, found }: { column: RunColumn; found: ColumnValues }) {
  const few = found.distinct > 0 && found.distinct <= MOST_LISTED && column.type !== "time" && column.key !== "name";
  const numeric = found.stats !== null && column.type !== "time";
  return (
    <>
      {few ? <Choices column={column} found={found} /> : null}
      {numeric && !few ? <RangeFilter column={column} /> : null}
      {numeric && found.stats ? <Statistics column={column} found={found} stats={found.stats} /> : null}
      {!numeric ? (
        <p class="tiny quiet head-note">
          {count(found.distinct, "value")}
          {found.missing ? `, ${count(found.missing, "run")} without one` : ""}
        </p>
      ) : null}
    </>
  );
}

function Choices({ column, found }: { column: RunColumn; found: ColumnValues }) {
  const rows: { value: Cell; count: number }[] = [
    ...found.values,
    ...(found.missing > 0 && column.key !== "tags" ? [{ value: null, count: found.missing }] : []),
  ];
  return (
    <ul class="px-3 py-2 over head-values" aria-label="Filter by value">
      {rows.map(({ value, count: many }) => (
        <li key={JSON.stringify(value)}>
          <Checkbox
            checked={asksFor(query.value, column.key, value)}
            label={value === null ? "none" : visibleText(formatCell(value)) || "(empty)"}
            visible
            onChange={() => filterBy(column.key, value)}
          />
          <span class="quiet">{many.toLocaleString("en-US")}</span>
        </li>
      ))}
    </ul>
  );
}

function RangeFilter({ column }: { column: RunColumn }) {
  const [low, setLow] = useState("");
  const [high, setHigh] = useState("");
  const fits = (text: string) =>
    text.trim() === "" || Number.isFinite(Number(text)) || /^[\d.]+\s*(ms|s|m|h|d|w)$/.test(text.trim());
  const good = fits(low) && fits(high);
  return (
    <form
      class="gap-1 over head-range"
      onSubmit={(event) => {
        event.preventDefault();
        if (good) query.value = withRange(query.peek(), column.key, low, high);
      }}
    >
      <TextInput label="At least" placeholder="at least" value={low} bad={!fits(low)} onInput={setLow} />
      <TextInput label="At most" placeholder="at most" value={high} bad={!fits(high)} onInput={setHigh} />
      <Button type="submit" disabled={!good}>
        Filter
      </Button>
    </form>
  );
}

function Statistics({ column, found, stats }: { column: RunColumn; found: ColumnValues; stats: ColumnStats }) {
  const say = (value: number) =>
    column.type === "duration"
      ? formatDuration(value)
      : column.type === "time"
        ? formatAge(value, now.peek())
        : formatNumber(value);
  const most = Math.max(1, ...stats.bins);
  const facts: [string, string][] = [
    ["minimum", say(stats.min)],
    ["median", say(stats.median)],
    ["mean", `${say(stats.mean)} ± ${say(stats.std)}`],
    ["maximum", say(stats.max)],
  ];
  return (
    <section class="head-stats" aria-label="Statistics">
      <div class="head-bins" role="img" aria-label={`From ${say(stats.min)} to ${say(stats.max)}`}>
        {stats.bins.map((many, n) => (
          <i key={n} style={{ height: `${Math.max(many ? 6 : 0, (100 * many) / most)}%` }} />
        ))}
      </div>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="tiny quiet head-note">
        {count(found.runs - found.missing, "run")}
        {found.missing ? `, ${found.missing} without` : ""}
        {found.odd ? `, ${found.odd} not finite` : ""}
      </p>
    </section>
  );
}
