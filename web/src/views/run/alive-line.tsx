/** Under the head of a run that goes on: the newest point, the speed, what is left, the machine, and a bell. */

import { useAlive } from "../../alive";
import { IconButton } from "../../components";
import { BellIcon, BellOffIcon, WarningIcon } from "../../components/icons";
import { followed, toggleFollowed } from "../../end-notices";
import { ageWords, leftWords, machineWords, percentWords, speedWords } from "../../lib/alive-words";
import { visibleText } from "../../lib/format";
import type { RunDetail } from "../../lib/schema";

const STATES: Readonly<Record<string, string>> = { waiting: "Waiting", stalled: "Stalled", diverged: "Diverged" };

export function AliveLine({ run }: { run: RunDetail }) {
  const running = run.status === "running";
  const alive = useAlive(run.id, running);
  if (!running) return null;
  const on = followed.value.has(run.id);
  const facts = alive
    ? [
        alive.silent_s === null ? "" : `last point ${ageWords(alive.silent_s)}`,
        alive.of || (alive.step === null ? "" : `step ${alive.step.toLocaleString("en-US")}`),
        speedWords(alive.steps_per_s),
        leftWords(alive.eta_s),
        ...machineWords(alive),
      ].filter(Boolean)
    : [];
  return (
    <div class="hstack wraps soft small digits run-line alive-line" role="status" aria-label="Right now">
      {alive && STATES[alive.state] ? (
        <span class="badge" data-tone={alive.state === "waiting" ? "warn" : "bad"} title={visibleText(alive.why)}>
          <WarningIcon size={13} /> {STATES[alive.state]}: {visibleText(alive.why)}
        </span>
      ) : null}
      {alive?.progress != null ? (
        <span
          class="inline gap-2 strong alive-progress"
          role="progressbar"
          aria-valuenow={Math.round(alive.progress * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-label="Progress"
        >
          <span class="rigid clipped alive-bar">
            <i style={{ width: `${alive.progress * 100}%` }} />
          </span>
          {percentWords(alive.progress)}
        </span>
      ) : null}
      {facts.map((fact) => (
        <span key={fact.replace(/\d.*/, "")}>{fact}</span>
      ))}
      {alive ? null : <span class="quiet">…</span>}
      <IconButton
        label={on ? "Do not notify me about this run" : "Notify me on the desktop when it ends or goes wrong"}
        pressed={on}
        onClick={() => void toggleFollowed(run.id)}
      >
        {on ? <BellOffIcon size={14} /> : <BellIcon size={14} />}
      </IconButton>
    </div>
  );
}
