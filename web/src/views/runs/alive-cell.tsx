/** How a running run does, in a cell: a bar with what is left, or what is wrong. */

import { useAlive } from "../../alive";
import { ageWords, machineWords, shortWords, speedWords } from "../../lib/alive-words";
import type { Alive, RunRow } from "../../lib/schema";

export function AliveCell({ row }: { row: RunRow }) {
  const alive = useAlive(row.id, row.status === "running");
  if (!alive) return <span class="cell-none">{row.status === "running" ? "…" : "–"}</span>;
  return (
    <span class="alive" data-state={alive.state} title={wholeWords(alive)}>
      {alive.progress === null ? null : (
        <span class="rigid clipped alive-bar" aria-hidden="true">
          <i style={{ width: `${alive.progress * 100}%` }} />
        </span>
      )}
      <span class="ellipsis">{shortWords(alive)}</span>
    </span>
  );
}

const wholeWords = (alive: Alive): string =>
  [
    alive.why,
    alive.of,
    speedWords(alive.steps_per_s),
    alive.silent_s === null ? "" : `last point ${ageWords(alive.silent_s)}`,
    ...machineWords(alive),
  ]
    .filter(Boolean)
    .join(", ");
