import type { Status } from "../lib/schema";

const MEANING: Record<Status, string> = {
  running: "alive by its heartbeat",
  finished: "ended normally",
  stopped: "stopped with Ctrl-C",
  preempted: "ended by SIGTERM, for example by a scheduler",
  failed: "ended with an exception",
  killed: "its process disappeared without reporting an end",
  lost: "no heartbeat, and its machine cannot be reached",
};

/** A dot and the word: colour alone is never the message. */
export function StatusDot({ status, word = true }: { status: Status; word?: boolean }) {
  return (
    <span class="status" data-status={status} title={`${status}: ${MEANING[status]}`}>
      <span class="status-dot" aria-hidden="true" />
      {word ? <span>{status}</span> : <span class="visually-hidden">{status}</span>}
    </span>
  );
}
