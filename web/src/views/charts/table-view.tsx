/** A logged table: scrolls in its panel, sorts by any column, downloads as CSV. */

import { useMemo, useState } from "preact/hooks";
import { fileName, saveText } from "../../charts/download";
import { tableCsv } from "../../lib/chart-csv";
import { compareCells, readTable } from "../../lib/chart-payload";
import { count, formatNumber, visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";

const MOST_ROWS = 200;
const MOST_COLUMNS = 50;

export function TableView({ item }: { item: MediaItem }) {
  const table = useMemo(() => readTable(item.text), [item.text]);
  const [sort, setSort] = useState<{ column: number; down: boolean } | null>(null);
  const [most, setMost] = useState(MOST_ROWS);
  const rows = useMemo(() => {
    if (!table || !sort) return table?.rows ?? [];
    const sign = sort.down ? -1 : 1;
    return [...table.rows].sort((a, b) => sign * compareCells(a[sort.column], b[sort.column]));
  }, [table, sort]);
  if (!table) return <p class="none">This table could not be read.</p>;
  const columns = table.columns.slice(0, MOST_COLUMNS);
  const by = (column: number) =>
    setSort(sort?.column === column ? (sort.down ? null : { column, down: true }) : { column, down: false });
  return (
    <div class="fill-down scroll small data-table">
      <table>
        <thead>
          <tr>
            {columns.map((name, i) => (
              <th
                key={i}
                data-number={table.rows.some((row) => typeof row[i] === "number") || undefined}
                aria-sort={sort?.column !== i ? "none" : sort.down ? "descending" : "ascending"}
              >
                <button type="button" class="isolate" onClick={() => by(i)}>
                  {visibleText(name)}
                  {sort?.column === i ? (sort.down ? " ↓" : " ↑") : ""}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, r) => (
            <tr key={r}>
              {columns.map((_, i) => (
                <td key={i} class="isolate" data-number={typeof row[i] === "number" || undefined}>
                  {sayCell(row[i])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="gap-3 tiny quiet table-foot">
        {count(table.rows.length, "row")}
        {item.meta.truncated ? " (cut when it was logged)" : ""}
        {rows.length > most ? (
          <button type="button" class="link" onClick={() => setMost(most + 1000)}>
            Show more
          </button>
        ) : null}
        <button
          type="button"
          class="link"
          onClick={() => saveText(tableCsv(table.columns, table.rows), "text/csv", fileName(item.key, "csv"))}
        >
          CSV
        </button>
      </p>
    </div>
  );
}

function sayCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return formatNumber(value, 6);
  return visibleText(typeof value === "string" ? value : JSON.stringify(value));
}
