/** Whose line is whose. Under the mouse, a name is enough; on paper it is not. */

import { count } from "../../lib/format";
import type { ReportRun } from "../../lib/schema";
import { RunName } from "./run-name";

const MOST = 24;

export function Legend({ runs }: { runs: readonly ReportRun[] }) {
  return (
    <p class="wraps centered soft small report-legend">
      {runs.slice(0, MOST).map((run) => (
        <RunName key={run.id} run={run} />
      ))}
      {runs.length > MOST ? <span>and {count(runs.length - MOST, "more run")}</span> : null}
    </p>
  );
}
