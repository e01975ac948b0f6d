/** What a sheet can do beside showing itself: choose its columns, leave as CSV or Markdown. */

import { useRef, useState } from "preact/hooks";
import { saveText, fileName } from "../../charts/download";
import { Checkbox, copyText, IconButton, Menu, Popover } from "../../components";
import { ColumnsIcon, DownloadIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import type { Column, Sheet } from "../../lib/schema";
import { type Choice, isShown, NO_CHOICE, toggled } from "../../lib/sheet-columns";
import { sheetCsv, sheetMarkdown } from "../../lib/sheet-export";
import { follow } from "./export";

export function SheetColumns({
  columns,
  choice,
  onChange,
}: {
  columns: readonly Column[];
  choice: Choice;
  onChange(next: Choice): void;
}) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLSpanElement>(null);
  return (
    <span ref={anchor}>
      <IconButton label="Choose the columns" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ColumnsIcon size={15} />
      </IconButton>
      {open ? (
        <Popover
          anchor={anchor.current}
          label="Columns"
          align="end"
          class="vstack gap-2 sheet-columns"
          onClose={() => setOpen(false)}
        >
          {columns.slice(1).map((column) => (
            <div key={column.key} title={visibleText(column.help ?? "")}>
              <Checkbox
                visible
                label={visibleText(column.label)}
                checked={isShown(column, choice)}
                onChange={() => onChange(toggled(column, choice))}
              />
              {column.help ? <p class="quiet">{visibleText(column.help)}</p> : null}
            </div>
          ))}
          <button type="button" class="button button-quiet" onClick={() => onChange(NO_CHOICE)}>
            Reset
          </button>
        </Popover>
      ) : null}
    </span>
  );
}

export function SheetExport({
  sheet,
  rows,
  columns,
  csv,
}: {
  sheet: Sheet;
  rows: readonly number[];
  columns: readonly number[];
  csv?: string | undefined;
}) {
  const all = sheet.rows.map((_, row) => row);
  return (
    <Menu
      label={`Export: ${sheet.title}`}
      align="end"
      buttonClass="icon-button"
      button={<DownloadIcon size={15} />}
      items={[
        {
          key: "csv",
          label: "Save as CSV",
          hint: "all rows and columns",
          onPick: () => (csv ? follow(csv) : saveText(sheetCsv(sheet, all), "text/csv", fileName(sheet.id, "csv"))),
        },
        {
          key: "markdown",
          label: "Copy as Markdown",
          hint: "what is seen",
          onPick: () => void copyText(sheetMarkdown(sheet, rows, columns), "Copied as Markdown"),
        },
      ]}
    />
  );
}
