/** Which run a panel shows, where several side by side would be too small to read. */

import { inkOfRun } from "../../state";
import { runName } from "../../twins";

const MOST = 12;

export function RunChips({
  runs,
  chosen,
  onChoose,
}: {
  runs: readonly string[];
  chosen: string | undefined;
  onChoose(run: string): void;
}) {
  if (runs.length < 2) return null;
  return (
    <span class="chips" role="radiogroup" aria-label="Run">
      {runs.slice(0, MOST).map((id) => {
        const name = runName(id);
        const on = id === chosen;
        return (
          <button
            key={id}
            type="button"
            role="radio"
            class="chip"
            aria-checked={on}
            title={name}
            onClick={() => onChoose(id)}
          >
            <span class="ink" style={inkOfRun(id)} />
            <span class={on ? "isolate ellipsis" : "visually-hidden"}>{name}</span>
          </button>
        );
      })}
      {runs.length > MOST ? <span class="tiny quiet chip-more">{runs.length - MOST} more when enlarged</span> : null}
    </span>
  );
}
