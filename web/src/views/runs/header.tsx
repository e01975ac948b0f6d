/** Column headings: a click sorts, the edge resizes, dragging moves. */

import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Checkbox } from "../../components";
import { ArrowDownIcon, ArrowUpIcon, ChevronDownIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import type { RunColumn } from "../../lib/schema";
import { isNumeric } from "./cells";
import { HeadMenu } from "./head-menu";
import { table } from "./data";
import { NAME } from "./row";
import { chooseMany, chosenAmong } from "./selection";
import { descending, moveColumn, nextSort, pinnedLeft, setWidth, sort, sortKey, widthOf } from "./settings";

const dragged = signal<string | null>(null);
const over = signal<string | null>(null);

export function Header({ columns }: { columns: readonly RunColumn[] }) {
  const order = table.value?.order ?? [];
  const chosen = chosenAmong(order);
  return (
    <div class="soft small row row-head" role="row" aria-rowindex={1}>
      <div class="cell cell-name" role="columnheader" aria-sort={sortState("name")} style={{ width: widthOf(NAME) }}>
        <Checkbox
          checked={chosen > 0 && chosen === order.length}
          mixed={chosen > 0}
          label="Select all matching runs"
          onChange={(on) => chooseMany(order, on)}
        />
        <SortButton column={NAME} />
        <MenuButton column={NAME} />
        <Resizer column={NAME} />
      </div>
      {columns.map((column) => (
        <HeadCell key={column.key} column={column} />
      ))}
      <div class="cell cell-rest" role="presentation" />
    </div>
  );
}

function sortState(key: string): "ascending" | "descending" | "none" {
  return sortKey.value !== key ? "none" : descending.value ? "descending" : "ascending";
}

function HeadCell({ column }: { column: RunColumn }) {
  return (
    <div
      class={isNumeric(column) ? "cell cell-number" : "cell"}
      role="columnheader"
      aria-sort={column.type === "line" ? undefined : sortState(column.key)}
      data-column={column.key}
      data-over={over.value === column.key || undefined}
      data-pinned={pinnedLeft(column.key) === undefined ? undefined : ""}
      style={{ width: widthOf(column), left: pinnedLeft(column.key) }}
      draggable
      onContextMenu={column.type === "line" ? undefined : openMenu(column)}
      onDragStart={(event) => {
        dragged.value = column.key;
        event.dataTransfer?.setData("text/plain", column.key);
      }}
      onDragOver={(event) => {
        if (dragged.value === null) return;
        event.preventDefault();
        over.value = column.key;
      }}
      onDragEnd={() => (dragged.value = over.value = null)}
      onDrop={(event) => {
        event.preventDefault();
        if (dragged.value !== null) moveColumn(dragged.value, column.key);
        dragged.value = over.value = null;
      }}
    >
      {column.type === "line" ? <span class="medium">{column.label}</span> : <SortButton column={column} />}
      {column.type === "line" ? null : <MenuButton column={column} />}
      <Resizer column={column} />
    </div>
  );
}

const menuOf = signal<string | null>(null);

/** Opens the column's menu; a right click on the heading does too. */
function MenuButton({ column }: { column: RunColumn }) {
  const anchor = useRef<HTMLButtonElement>(null);
  const open = menuOf.value === column.key;
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="inline centered subtle quiet head-more"
        aria-label={`Menu of ${visibleText(column.label)}`}
        title="Filter, group, pin, hide, statistics"
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => (menuOf.value = open ? null : column.key)}
      >
        <ChevronDownIcon size={12} />
      </button>
      {open ? <HeadMenu column={column} anchor={anchor.current} onClose={() => (menuOf.value = null)} /> : null}
    </>
  );
}

const openMenu = (column: RunColumn) => (event: MouseEvent) => {
  event.preventDefault();
  menuOf.value = column.key;
};

function SortButton({ column }: { column: RunColumn }) {
  const state = sortState(column.key);
  const label = visibleText(column.label);
  return (
    <button
      type="button"
      class="hstack gap-1 medium head-button"
      data-sorted={state === "none" ? undefined : true}
      title={`${visibleText(column.key)}: click to sort, shift-click for the newest first, drag to move`}
      onClick={(event) => {
        if (event.shiftKey) sort.value = "-created";
        else nextSort(column.key);
      }}
    >
      <span class="isolate ellipsis">{label}</span>
      {state === "ascending" ? <ArrowUpIcon size={12} /> : state === "descending" ? <ArrowDownIcon size={12} /> : null}
    </button>
  );
}

function Resizer({ column }: { column: RunColumn }) {
  const begin = (event: PointerEvent) => {
    event.preventDefault();
    const handle = event.currentTarget as HTMLElement;
    const from = event.clientX;
    const width = widthOf(column);
    handle.setPointerCapture(event.pointerId);
    const move = (next: PointerEvent) => setWidth(column.key, width + next.clientX - from);
    const end = () => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  };
  return (
    <span
      class="resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${visibleText(column.label)}`}
      draggable
      onDragStart={(event) => (event.preventDefault(), event.stopPropagation())}
      onPointerDown={begin}
      onDblClick={() => setWidth(column.key, null)}
    />
  );
}
