/** The names of the runs above their columns, and beside single items where there are no columns. */

import { linkTo } from "../../router";
import { inkOfRun } from "../../state";
import { runName } from "../../twins";

export function RunName({ run }: { run: string }) {
  return (
    <span class="inline media-run">
      <span class="ink" style={inkOfRun(run)} />
      <span class="isolate ellipsis" title={runName(run)}>
        {runName(run)}
      </span>
    </span>
  );
}

export function RunHeads({ runs }: { runs: readonly string[] }) {
  return (
    <nav class="media-heads" aria-label="Runs">
      {runs.map((run) => (
        <a key={run} class="media-head" href={linkTo(`/run/${run}`)}>
          <RunName run={run} />
        </a>
      ))}
    </nav>
  );
}
