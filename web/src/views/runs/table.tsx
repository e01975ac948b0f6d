/** The table: only the rows on the screen are drawn, however many there are. */

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useKeys } from "../../keys";
import { groupKey, visibleSpan } from "../../lib/rows";
import { go } from "../../router";
import { askDelete, setArchived } from "../../components/run-actions";
import { info } from "../../components/topbar";
import { clearSelection } from "../../clear-selection";
import { hiddenSet, selected, selectedSet, toggleHidden } from "../../state";
import { layout, showSpan, waiting } from "./data";
import { Header } from "./header";
import { GroupRow, NAME, Row, rowId } from "./row";
import { choose, cursor, idAtCursor, moveCursor } from "./selection";
import { groupBy, query, room, shownColumns, shutGroups, sort, widthOf } from "./settings";

const ROW = 32;
const STEP = 4;

export function RunsTable() {
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useSeen(scroller);
  useTopOnNewQuestion(scroller);
  useTableKeys(scroller);

  const drawn = layout.value;
  const columns = shownColumns.value;
  const span = visibleSpan(seen.value.top, seen.value.height, ROW, drawn.count);
  useEffect(() => showSpan(span), [span.start, span.end]);
  const width = widthOf(NAME) + columns.reduce((sum, column) => sum + widthOf(column), 0);

  const list = [];
  for (let index = span.start; index < span.end; index++) {
    const item = drawn.at(index);
    if (!item) break;
    if (item.kind === "group")
      list.push(
        <GroupRow
          key={`g${groupKey(item.group.value)}`}
          group={item.group}
          shut={item.shut}
          index={index}
          columns={columns}
        />,
      );
    else list.push(<Row key={item.id ?? `p${item.position}`} id={item.id} index={index} columns={columns} />);
  }
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      aria-label="Runs"
      aria-rowcount={drawn.count + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable="true"
      aria-busy={waiting.value}
      aria-activedescendant={cursor.value >= 0 ? rowId(cursor.value) : undefined}
      tabIndex={0}
    >
      <div class="anchor" style={{ minWidth: width, height: (drawn.count + 1) * ROW }}>
        <Header columns={columns} />
        <div class="grid-rows" style={{ transform: `translateY(${span.start * ROW}px)` }}>
          {list}
        </div>
      </div>
    </div>
  );
}

/** Which part of the table is on the screen, rounded to a few rows so that most scroll events draw nothing. */
function useSeen(scroller: { current: HTMLElement | null }): Signal<{ top: number; height: number }> {
  const seen = useSignal({ top: 0, height: 800 });
  // Before the first paint: columns that widen afterwards would jump.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const look = () => {
      const top = Math.floor(box.scrollTop / (STEP * ROW)) * STEP * ROW;
      const height = box.clientHeight + STEP * ROW;
      if (box.clientWidth > 0) room.value = box.clientWidth;
      if (top !== seen.peek().top || height !== seen.peek().height) seen.value = { top, height };
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(box);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, []);
  return seen;
}

/** Another query, order or grouping starts at the top; new data does not move what is being read. */
function useTopOnNewQuestion(scroller: { current: HTMLElement | null }): void {
  const first = useRef(true);
  useSignalEffect(() => {
    query.value;
    sort.value;
    groupBy.value;
    if (!first.current && scroller.current) scroller.current.scrollTop = 0;
    if (!first.current) cursor.value = -1;
    first.current = false;
  });
}

/** The chosen runs; without any, the one the keyboard is on. */
function chosenOrCursor(): string[] {
  const id = idAtCursor();
  return selected.peek().length > 0 ? selected.peek() : id === null ? [] : [id];
}

function mayChange(): boolean {
  return !info.peek()?.read_only && chosenOrCursor().length > 0;
}

function useTableKeys(scroller: { current: HTMLElement | null }): void {
  const by = (step: number) => () => moveCursor(step, scroller.current, ROW);
  const toggle = () => {
    const id = idAtCursor();
    if (id !== null) return choose(id, !selectedSet.peek().has(id), false);
    const item = layout.peek().at(cursor.peek());
    if (item?.kind !== "group") return;
    const next = new Set(shutGroups.peek());
    if (!next.delete(groupKey(item.group.value))) next.add(groupKey(item.group.value));
    shutGroups.value = next;
  };
  const extend = (step: number) => () => {
    const from = idAtCursor();
    if (from !== null) choose(from, true, false);
    moveCursor(step, scroller.current, ROW);
    const to = idAtCursor();
    if (to !== null) choose(to, true, false);
  };
  useKeys({
    j: by(1),
    k: by(-1),
    ArrowDown: by(1),
    ArrowUp: by(-1),
    J: extend(1),
    K: extend(-1),
    PageDown: by(15),
    PageUp: by(-15),
    Home: by(-1e9),
    End: by(1e9),
    x: toggle,
    Space: toggle,
    v: () => {
      const id = idAtCursor();
      if (id !== null && (selectedSet.peek().has(id) || hiddenSet.peek().has(id))) toggleHidden(id);
    },
    Enter: () => {
      const id = idAtCursor();
      if (id !== null) go(`/run/${id}`);
      else toggle();
    },
    c: () => selectedSet.peek().size > 0 && go("/charts"),
    d: () => selectedSet.peek().size > 1 && go("/compare"),
    e: () => mayChange() && void setArchived(chosenOrCursor(), true),
    Delete: () => mayChange() && askDelete(chosenOrCursor()),
    Escape: clearSelection,
  });
}
