/** One row in full: every column, hidden ones too, with what it means. */

import { copyText, IconButton } from "../../components";
import { CloseIcon, CopyIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { formatCell, formatUnit } from "../../lib/profile-format";
import type { Sheet } from "../../lib/schema";
import { tellCell } from "./sheet-row";

export function RowDetails({ sheet, row, onClose }: { sheet: Sheet; row: number; onClose(): void }) {
  const cells = sheet.rows[row] ?? [];
  const name = formatUnit(cells[0], sheet.columns[0]?.unit);
  return (
    <aside class="rigid scroll framed subtle sheet-details" aria-label="Details of the row">
      <header>
        <strong class="mono isolate">{visibleText(name)}</strong>
        <IconButton label="Copy the name" onClick={() => void copyText(name)}>
          <CopyIcon size={13} />
        </IconButton>
        <span class="spring" />
        <IconButton label="Close (Esc)" onClick={onClose}>
          <CloseIcon size={13} />
        </IconButton>
      </header>
      <dl>
        {sheet.columns.slice(1).map((column, at) => {
          const value = cells[at + 1] ?? null;
          return (
            <div key={column.key} title={tellCell(column, value)}>
              <dt>{visibleText(column.label)}</dt>
              <dd class={column.unit === "line" ? "mono isolate" : "isolate"}>
                {visibleText(column.unit === "line" ? formatUnit(value, "line") : formatCell(value, column))}
              </dd>
            </div>
          );
        })}
      </dl>
    </aside>
  );
}
