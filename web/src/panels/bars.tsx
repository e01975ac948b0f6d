/** One number of each run as a bar: the quickest way to see who won, and by how much. */

import { call } from "../lib/api";
import { formatNumber } from "../lib/format";
import type { RunsPage } from "../lib/schema";
import { lookOfRun } from "../state";
import { type PanelKind, type PanelProps, textOf } from "./panel";
import { Asked } from "./parts/asked";
import { RunName } from "./parts/run-name";
import { columnLabel } from "./parts/column-label";

const statOf = ({ options }: PanelProps): string => textOf(options, "stat") || "last";

/**
 * In quotes, whatever the name holds. Files that were shared look answers up by it: change it on both sides or on none.
 */
const columnOf = (props: PanelProps): string =>
  `"${textOf(props.options, "key").replace(/["\\]/g, "\\$&")}".${statOf(props)}`;

function ask(props: PanelProps, stop: AbortSignal): Promise<RunsPage> {
  const { runs } = props;
  return call(
    "POST /api/runs",
    {
      runs: runs.map((run) => run.id),
      sort: "created",
      descending: true,
      columns: [columnOf(props)],
      limit: runs.length,
      archived: true,
    },
    { signal: stop },
  );
}

function Panel(props: PanelProps) {
  const ids = props.runs.map((run) => run.id);
  return (
    <Asked
      question={JSON.stringify([props.options, ids])}
      runs={ids}
      height={28 * Math.min(ids.length, 12)}
      ask={(stop) => ask(props, stop)}
    >
      {(page) => (
        <Bars
          page={page}
          title={columnLabel(`${textOf(props.options, "key")}.${statOf(props)}`)}
          titled={textOf(props.options, "title") !== ""}
        />
      )}
    </Asked>
  );
}

function Bars({ page, title, titled }: { page: RunsPage; title: string; titled: boolean }) {
  const rows = page.rows.map((row) => ({ row, value: typeof row.cells[0] === "number" ? row.cells[0] : null }));
  const values = rows.flatMap(({ value }) => (value === null ? [] : [value]));
  const low = Math.min(0, ...values);
  const span = Math.max(0, ...values) - low || 1;
  const best = page.best[0] ?? null;
  return (
    <table class="full report-bars">
      <caption class={titled ? "visually-hidden" : ""}>{title}</caption>
      <tbody>
        {[...rows]
          .sort((a, b) => (b.value ?? Number.NEGATIVE_INFINITY) - (a.value ?? Number.NEGATIVE_INFINITY))
          .map(({ row, value }) => (
            <tr key={row.id} data-best={(value !== null && value === best) || undefined}>
              <th scope="row">
                <RunName run={row} />
              </th>
              <td class="report-bars-cell">
                {value === null ? null : (
                  <span
                    aria-hidden="true"
                    style={{
                      background: lookOfRun(row.id).colour,
                      marginLeft: `${(100 * (Math.min(0, value) - low)) / span}%`,
                      width: `${Math.max(0.4, (100 * Math.abs(value)) / span)}%`,
                    }}
                  />
                )}
              </td>
              <td data-number>{value === null ? String(row.cells[0] ?? "–") : formatNumber(value)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

export default {
  kind: "bars",
  title: "Bars",
  hint: "one number of each run, side by side",
  needs: 1,
  fields: [
    { name: "key", label: "Metric", type: "metric", required: true },
    {
      name: "stat",
      label: "Which value",
      type: "choice",
      choices: [
        { value: "", label: "Last" },
        { value: "min", label: "Smallest" },
        { value: "max", label: "Largest" },
        { value: "mean", label: "Mean" },
      ],
    },
  ],
  Panel,
} satisfies PanelKind;
