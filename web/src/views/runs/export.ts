/** The table as it stands, with all runs that match, as a CSV file. */

import { toast } from "../../components";
import { call } from "../../lib/api";
import { inProject } from "../../lib/query";
import type { RunRow } from "../../lib/schema";
import { csvOf } from "../../lib/runs-csv";
import { project } from "../../state";
import { archived, askedColumns, columnOf, descending, query, shownKeys, sortKey } from "./settings";

const PAGE = 1000;
const MOST = 20_000;

export async function exportTable(): Promise<void> {
  const columns = askedColumns.peek();
  const request = {
    query: inProject(project.peek(), query.peek()).query,
    sort: sortKey.peek(),
    descending: descending.peek(),
    archived: archived.peek(),
    columns,
    limit: PAGE,
  };
  try {
    const rows: RunRow[] = [];
    for (let offset = 0; offset < MOST; offset += PAGE) {
      const page = await call("POST /api/runs", { ...request, offset });
      rows.push(...page.rows);
      if (rows.length >= page.matched || page.rows.length === 0) break;
    }
    const keys = shownKeys.peek().filter((key) => key !== "spark");
    const text = csvOf(keys, (key) => columnOf(key).label, rows, columns);
    save(new Blob([text], { type: "text/csv" }), "runs.csv");
  } catch (fault) {
    toast(fault instanceof Error ? fault.message : String(fault), "error", "Not exported");
  }
}

function save(data: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
