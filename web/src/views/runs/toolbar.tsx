/** Query, columns, grouping, and what can be done with the chosen runs. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { useActions } from "../../actions";
import { Button, copyText, Menu, type MenuItem, Popover, TextInput } from "../../components";
import {
  ArchiveIcon,
  ChartIcon,
  CloseIcon,
  ColumnsIcon,
  CopyIcon,
  DownloadIcon,
  GroupIcon,
  MoreIcon,
  ReportIcon,
  SearchIcon,
  TrashIcon,
} from "../../components/icons";
import { ARCHIVED, askDelete, setArchived } from "../../components/run-actions";
import { info } from "../../components/topbar";
import { trashOpen } from "../../components/trash";
import { count, visibleText } from "../../lib/format";
import { go } from "../../router";
import { known, selected, setSelected } from "../../state";
import { table } from "./data";
import { exportTable } from "./export";
import { ColumnPicker } from "./picker";
import { QueryBox } from "./query-box";
import { archived, columnOf, groupBy, offered } from "./settings";
import { TagAdder } from "./tags";
import { beginReport } from "../reports/begin";

export function Toolbar() {
  return (
    <div class="bar toolbar">
      <QueryBox />
      <Matched />
      <span class="spring" />
      {selected.value.length > 0 ? <ChosenActions /> : null}
      <GroupPicker />
      <ColumnPicker />
      <MoreMenu />
    </div>
  );
}

/** What is done now and then. */
function MoreMenu() {
  const shown = archived.value;
  useActions(
    [
      {
        id: "runs.export",
        title: "Export these runs as CSV",
        words: "download table spreadsheet",
        run: () => void exportTable(),
      },
      {
        id: "runs.archived",
        title: shown ? "Hide archived runs" : "Show archived runs",
        run: () => (archived.value = !shown),
      },
    ],
    [shown],
  );
  const items: MenuItem[] = [
    { key: "csv", label: "Export as CSV", icon: <DownloadIcon size={14} />, onPick: () => void exportTable() },
    {
      key: "archived",
      label: shown ? "Hide archived runs" : "Show archived runs",
      icon: <ArchiveIcon size={14} />,
      onPick: () => (archived.value = !shown),
    },
    { key: "trash", label: "Trash…", icon: <TrashIcon size={14} />, onPick: () => (trashOpen.value = true) },
  ];
  return <Menu label="More" buttonClass="icon-button" button={<MoreIcon />} items={items} align="end" />;
}

function Matched() {
  const now = table.value;
  if (!now) return null;
  const words =
    now.matched === now.total
      ? count(now.total, "run")
      : `${now.exact ? "" : "about "}${now.matched.toLocaleString("en-US")} of ${count(now.total, "run")}`;
  return (
    <span class="matched quiet" role="status">
      {words}
      {now.unread > 0 ? `, reading ${now.unread.toLocaleString("en-US")} more …` : ""}
    </span>
  );
}

function ChosenActions() {
  const chosen = selected.value;
  return (
    <div class="chosen" role="group" aria-label="Chosen runs">
      <Button kind="primary" onClick={() => go("/charts")} title="Show the selected runs in Charts (c)">
        <ChartIcon size={14} />
        Chart {count(chosen.length, "run")}
      </Button>
      {chosen.length > 1 ? (
        <Button onClick={() => go("/compare")} title="Metrics, config, code and what changed, side by side (d)">
          <ColumnsIcon size={14} />
          Compare
        </Button>
      ) : null}
      <TagAdder runs={chosen} has={[]} words="Tag" />
      <ChosenMenu chosen={chosen} />
      <Button kind="quiet" onClick={() => setSelected([])} title="Choose none (Esc)">
        <CloseIcon size={12} />
        Clear
      </Button>
    </div>
  );
}

function ChosenMenu({ chosen }: { chosen: readonly string[] }) {
  const fixed = info.value?.read_only ?? false;
  const allArchived = chosen.every((id) => known.value.get(id)?.tags.includes(ARCHIVED));
  const changes: MenuItem[] = [
    {
      key: "archive",
      label: allArchived ? "Unarchive" : "Archive",
      icon: <ArchiveIcon size={14} />,
      onPick: () => void setArchived(chosen, !allArchived),
    },
    { key: "delete", label: "Delete…", icon: <TrashIcon size={14} />, onPick: () => askDelete(chosen) },
  ];
  const items: MenuItem[] = [
    ...(fixed ? [] : changes),
    { key: "report", label: "Make a report", icon: <ReportIcon size={14} />, onPick: () => beginReport(chosen) },
    {
      key: "ids",
      label: "Copy their ids",
      icon: <CopyIcon size={14} />,
      onPick: () => void copyText(chosen.join("\n")),
    },
  ];
  return (
    <Menu
      label="More for the selected runs"
      buttonClass="icon-button"
      button={<MoreIcon />}
      items={items}
      align="end"
    />
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
          <div class="px-2 py-2 under picker-search">
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
