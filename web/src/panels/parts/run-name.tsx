/** A run's name in its colour; a link to its page where there is one to go to. */

import type { ReportRun } from "../../lib/schema";
import { linkTo } from "../../router";
import { inkOfRun } from "../../state";
import { runName } from "../../twins";
import { standsAlone } from "./standing";

export function RunName({ run }: { run: Pick<ReportRun, "id" | "name"> }) {
  const name = runName(run.id, run.name);
  return (
    <span class="inline report-run">
      <span class="ink" style={inkOfRun(run.id)} aria-hidden="true" />
      {standsAlone() ? (
        <span class="isolate">{name}</span>
      ) : (
        <a class="isolate" href={linkTo(`/run/${run.id}`)}>
          {name}
        </a>
      )}
    </span>
  );
}
