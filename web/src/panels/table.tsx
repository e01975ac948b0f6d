/** The runs with their parameters and results, as the Runs page shows them. */

import { StatusDot } from "../components";
import { call } from "../lib/api";
import { formatAge, formatCell, formatDuration, formatTime, visibleText } from "../lib/format";
import type { Cell, RunRow, RunsPage } from "../lib/schema";
import { now } from "../clock";
import { namesOf, type PanelKind, type PanelProps, textOf } from "./panel";
import { Asked } from "./parts/asked";
import { columnLabel } from "./parts/column-label";
import { RunName } from "./parts/run-name";

const PLAIN = ["status", "created", "duration"];

interface Found {
  page: RunsPage;
  columns: readonly string[];
}

async function ask({ options, runs }: PanelProps, stop: AbortSignal): Promise<Found> {
  const ids = runs.map((run) => run.id);
  const wanted = namesOf(options, "columns");
  const columns = wanted.length ? wanted : (await call("POST /api/columns", { runs: ids }, { signal: stop })).default;
  const request = {
    runs: ids,
    sort: textOf(options, "sort") || "created",
    descending: options.descending !== false,
    columns: columns.filter((key) => key !== "name"),
    limit: runs.length,
    archived: true,
  };
  return { page: await call("POST /api/runs", request, { signal: stop }), columns: request.columns };
}

function Panel(props: PanelProps) {
  const ids = props.runs.map((run) => run.id);
  return (
    <Asked
      question={JSON.stringify([props.options, ids])}
      runs={ids}
      height={40 + 32 * Math.min(ids.length, 10)}
      ask={(stop) => ask(props, stop)}
    >
      {({ page, columns }) => (
        <div class="anchor scroll framed report-scroll" tabIndex={0} role="region" aria-label="Table of runs">
          <table class="table report-table">
            <thead>
              <tr>
                <th scope="col">run</th>
                {columns.map((key) => (
                  <th
                    key={key}
                    scope="col"
                    class="isolate"
                    title={visibleText(key)}
                    data-number={isNumeric(page.rows, columns.indexOf(key)) || undefined}
                  >
                    {columnLabel(key)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {page.rows.map((row) => (
                <tr key={row.id}>
                  <th scope="row">
                    <RunName run={row} />
                  </th>
                  {columns.map((key, at) => (
                    <ValueCell
                      key={key}
                      name={key}
                      row={row}
                      value={row.cells[at] ?? null}
                      best={page.best[at] ?? null}
                    />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Asked>
  );
}

function ValueCell({ name, row, value, best }: { name: string; row: RunRow; value: Cell; best: number | null }) {
  if (name === "status")
    return (
      <td>
        <StatusDot status={row.status} />
      </td>
    );
  if (name === "created") return <td title={formatTime(row.created)}>{formatAge(row.created, now.value)}</td>;
  if (name === "duration") return <td data-number>{formatDuration(row.duration_s)}</td>;
  const number = typeof value === "number" || value === "NaN" || value === "Infinity" || value === "-Infinity";
  return (
    <td
      class="isolate"
      data-number={number || undefined}
      data-best={(number && value === best) || undefined}
      title={value === null ? "" : visibleText(String(value))}
    >
      {value === null ? <span class="quiet">–</span> : visibleText(formatCell(value))}
      {number && value === best ? <span class="visually-hidden"> best</span> : null}
    </td>
  );
}

const isNumeric = (rows: readonly RunRow[], at: number): boolean =>
  rows.some((row) => typeof row.cells[at] === "number");

export default {
  kind: "table",
  title: "Table of runs",
  hint: "parameters and results, the best of each column marked",
  needs: 1,
  fields: [
    {
      name: "columns",
      label: "Columns",
      type: "columns",
      hint: `${PLAIN.join(", ")}, config.lr, train/loss.min …; empty for what differs`,
    },
    { name: "sort", label: "Sorted by", type: "column" },
    { name: "descending", label: "Largest first", type: "flag" },
  ],
  Panel,
} satisfies PanelKind;
