/** One row of a sheet: its name in the tree, then its numbers over bars. */

import { CheckIcon, ChevronDownIcon, ChevronRightIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { exactUnit, formatCell, formatUnit, isNumeric } from "../../lib/profile-format";
import type { Column, Sheet } from "../../lib/schema";

interface RowProps {
  sheet: Sheet;
  row: number;
  top: number;
  columns: readonly number[];
  most: readonly number[];
  sorted: string;
  depth: number;
  /** Of a tree: open, shut, or null for a leaf; undefined in a flat table. */
  open: boolean | null | undefined;
  chosen: boolean;
  onToggle(row: number): void;
  onPick(row: number): void;
}

export function SheetRow({ sheet, row, top, columns, most, sorted, depth, open, chosen, onToggle, onPick }: RowProps) {
  const cells = sheet.rows[row] ?? [];
  // of a diff: beyond the noise
  const clear = cells[sheet.columns.findIndex((column) => column.key === "clear")] !== false;
  return (
    <div
      class="sheet-row"
      role="row"
      aria-level={open === undefined ? undefined : depth + 1}
      aria-expanded={open ?? undefined}
      aria-selected={chosen}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onPick(row)}
      onDblClick={() => typeof open === "boolean" && onToggle(row)}
    >
      {columns.map((at, index) => {
        const column = sheet.columns[at] as Column;
        if (index === 0)
          return (
            <Name key={at} column={column} value={cells[at]} depth={depth} open={open} onToggle={() => onToggle(row)} />
          );
        return (
          <CellOf
            key={at}
            column={column}
            value={cells[at] ?? null}
            most={most[at] ?? 0}
            sorted={sorted === column.key}
            clear={clear}
          />
        );
      })}
    </div>
  );
}

function Name({
  column,
  value,
  depth,
  open,
  onToggle,
}: {
  column: Column;
  value: unknown;
  depth: number;
  open: RowProps["open"];
  onToggle(): void;
}) {
  const text = visibleText(formatUnit(value, column.unit));
  return (
    <span
      class="hstack one-line sheet-name"
      role="rowheader"
      style={depth ? { paddingLeft: `${10 + depth * 14}px` } : undefined}
    >
      {open === undefined ? null : open === null ? (
        <span class="inline centered rigid quiet sheet-caret" />
      ) : (
        <button
          type="button"
          class="inline centered rigid quiet sheet-caret"
          tabIndex={-1}
          aria-label={open ? "Close" : "Open"}
          onClick={(event) => (event.stopPropagation(), onToggle())}
        >
          {open ? <ChevronDownIcon size={12} /> : <ChevronRightIcon size={12} />}
        </button>
      )}
      <span class="isolate ellipsis" title={text}>
        {text}
      </span>
    </span>
  );
}

/** What a number is, with all its digits, for whoever rests the mouse on it. */
export function tellCell(column: Column, value: unknown): string {
  const said = value === null || value === undefined ? "not known" : exactUnit(value, column.unit);
  return visibleText(`${column.label}: ${said}${column.help ? `\n${column.help}` : ""}`);
}

function CellOf({
  column,
  value,
  most,
  sorted,
  clear,
}: {
  column: Column;
  value: unknown;
  most: number;
  sorted: boolean;
  clear: boolean;
}) {
  const tip = tellCell(column, value);
  if (value === null)
    return (
      <span class={isNumeric(column.unit) ? "number quiet" : "quiet"} role="gridcell" title={tip}>
        –
      </span>
    );
  if (column.unit === "flag") {
    return (
      <span class="inline sheet-flag" role="gridcell" title={tip}>
        {value === true ? <CheckIcon size={13} /> : <span class="quiet">no</span>}
        {value === true ? <span class="visually-hidden">yes</span> : null}
      </span>
    );
  }
  const text = visibleText(formatCell(value, column));
  if (!isNumeric(column.unit) || typeof value !== "number") {
    return (
      <span class={column.unit === "line" ? "mono ellipsis isolate" : "ellipsis isolate"} role="gridcell" title={tip}>
        {text}
      </span>
    );
  }
  const signed = /^change(_|$)/.test(column.key); // of a diff
  const part = column.unit === "share" ? Math.min(1, Math.abs(value)) : sorted && most > 0 ? Math.abs(value) / most : 0;
  return (
    <span class="amount number sheet-amount" role="gridcell" title={tip}>
      {part > 0 ? <span class="amount-bar sheet-part" style={{ transform: `scaleX(${part.toFixed(4)})` }} /> : null}
      <span class={value === 0 ? "quiet" : signed && clear ? (value > 0 ? "bad sheet-more" : "good") : undefined}>
        {signed && value > 0 ? `+${text}` : text}
      </span>
    </span>
  );
}
