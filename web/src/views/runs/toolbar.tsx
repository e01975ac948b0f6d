/** Query, columns, grouping, and what can be done with the chosen runs. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button, Popover, TextInput } from "../../components";
import { ChartIcon, CloseIcon, GroupIcon, SearchIcon } from "../../components/icons";
import { count, visibleText } from "../../lib/format";
import { go } from "../../router";
import { selected, setSelected } from "../../state";
import { table } from "./data";
import { ColumnPicker } from "./picker";
import { QueryBox } from "./query-box";
import { columnOf, groupBy, offered } from "./settings";
import { TagAdder } from "./tags";

export function Toolbar() {
  return (
    <div class="toolbar">
      <QueryBox />
      <Matched />
      <span class="spring" />
      {selected.value.length > 0 ? <ChosenActions /> : null}
      <GroupPicker />
      <ColumnPicker />
    </div>
  );
}

function Matched() {
  const now = table.value;
  if (!now) return null;
  const words =
    now.matched === now.total
      ? count(now.total, "run")
      : `${now.matched.toLocaleString("en-US")} of ${count(now.total, "run")}`;
  return (
    <span class="matched quiet" role="status">
      {words}
    </span>
  );
}

function ChosenActions() {
  const chosen = selected.value;
  return (
    <div class="chosen" role="group" aria-label="Chosen runs">
      <Button kind="primary" onClick={() => go("/charts")} title="Compare in Charts (c)">
        <ChartIcon size={14} />
        {chosen.length === 1 ? "Show 1 in Charts" : `Compare ${chosen.length} in Charts`}
      </Button>
      <TagAdder runs={chosen} has={[]} words="Tag" />
      <Button kind="quiet" onClick={() => setSelected([])} title="Choose none (Esc)">
        <CloseIcon size={12} />
        Clear
      </Button>
    </div>
  );
}

function GroupPicker() {
  const open = useSignal(false);
  const search = useSignal("");
  const anchor = useRef<HTMLButtonElement>(null);
  const now = groupBy.value;
  const wanted = search.value.trim().toLowerCase();
  const fits = offered.value.filter(
    (column) =>
      column.type !== "line" &&
      column.type !== "time" &&
      column.type !== "duration" &&
      column.key !== "notes" &&
      `${column.key} ${column.label}`.toLowerCase().includes(wanted),
  );
  const pick = (key: string) => {
    groupBy.value = key;
    open.value = false;
    search.value = "";
    anchor.current?.focus();
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="button"
        data-on={now !== "" || undefined}
        aria-haspopup="dialog"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <GroupIcon size={14} />
        {now === "" ? "Group" : <span class="isolate ellipsis group-by">by {visibleText(columnOf(now).label)}</span>}
      </button>
      {open.value ? (
        <Popover
          anchor={anchor.current}
          label="Group runs"
          align="end"
          class="group-popover"
          onClose={() => (open.value = false)}
        >
          <div class="picker-search">
            <TextInput
              label="Find a column"
              placeholder="Group by…"
              icon={<SearchIcon size={14} />}
              value={search.value}
              inputRef={focusOnce}
              onInput={(text) => (search.value = text)}
            />
          </div>
          <div class="menu" role="listbox" aria-label="Columns">
            {now !== "" ? (
              <button type="button" class="menu-item" role="option" aria-selected={false} onClick={() => pick("")}>
                No groups
              </button>
            ) : null}
            {fits.slice(0, 60).map((column) => (
              <button
                key={column.key}
                type="button"
                class="menu-item"
                role="option"
                aria-selected={column.key === now}
                onClick={() => pick(column.key)}
              >
                <span class="menu-label isolate ellipsis">{visibleText(column.label)}</span>
                <span class="menu-hint">{column.source}</span>
              </button>
            ))}
          </div>
        </Popover>
      ) : null}
    </>
  );
}

function focusOnce(input: HTMLInputElement | null): void {
  input?.focus();
}
