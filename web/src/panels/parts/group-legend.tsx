/** Which line is which group. */

import { call } from "../../lib/api";
import type { Compared, ReportRun } from "../../lib/schema";
import { ColumnName, useColours } from "../../views/compare/column-name";
import "../../style/compare.css";
import { Asked } from "./asked";

export function GroupLegend({ runs, by }: { runs: readonly ReportRun[]; by: string }) {
  const request = { runs: runs.map((run) => run.id), by: [by] };
  return (
    <Asked
      question={JSON.stringify(request)}
      runs={[]}
      height={18}
      ask={(stop) => call("POST /api/compare/columns", request, { signal: stop })}
    >
      {(compared) => <Names compared={compared} />}
    </Asked>
  );
}

function Names({ compared }: { compared: Compared }) {
  const colours = useColours(compared);
  return (
    <p class="wraps centered soft small report-legend">
      {compared.columns.map((column) => (
        <ColumnName key={column.id} column={column} colour={colours.get(column.id)} />
      ))}
    </p>
  );
}
