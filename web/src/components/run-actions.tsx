/** Deleting, archiving and bringing back runs. Each asks where it should, says what it did, and can be undone. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api";
import { count, formatBytes, nameText, visibleText } from "../lib/format";
import type { Edited, EditRequest, Weight } from "../lib/schema";
import { known, nameOf, selected, setSelected } from "../state";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { Checkbox } from "./fields";
import { toast } from "./toast";
import { remember } from "./undo";

export const ARCHIVED = "archived";
const NAMES = 6;

interface Question {
  runs: readonly string[];
  onDone?: (() => void) | undefined;
}

const asked = signal<Question | null>(null);

/** Asks whether to delete runs; `onDone` is called once they are in the trash. */
export function askDelete(runs: readonly string[], onDone?: () => void): void {
  if (runs.length > 0) asked.value = { runs: [...runs], onDone };
}

/** Moves runs out of the way or back; nothing is lost by it, so nobody is asked. */
export async function setArchived(runs: readonly string[], on: boolean): Promise<void> {
  const there: EditRequest = { runs: [...runs], ...(on ? { add_tags: [ARCHIVED] } : { remove_tags: [ARCHIVED] }) };
  const back: EditRequest = { runs: [...runs], ...(on ? { remove_tags: [ARCHIVED] } : { add_tags: [ARCHIVED] }) };
  const done = await attempt(() => call("POST /api/runs/edit", there));
  if (!done || done.changed.length === 0) return;
  const words = `${on ? "archive" : "unarchive"} ${howMany(done.changed)}`;
  if (on) setSelected(selected.peek().filter((id) => !done.changed.includes(id)));
  remember(
    {
      words,
      undo: async () => void (await strictly(call("POST /api/runs/edit", back))),
      redo: async () => void (await strictly(call("POST /api/runs/edit", there))),
    },
    `${on ? "Archived" : "Unarchived"} ${howMany(done.changed)}`,
  );
}

async function deleteRuns(runs: readonly string[], force: boolean): Promise<boolean> {
  const done = await attempt(() => call("POST /api/runs/delete", { runs: [...runs], force }));
  if (!done || done.changed.length === 0) return false;
  const gone = done.changed;
  setSelected(selected.peek().filter((id) => !gone.includes(id)));
  remember(
    {
      words: `delete ${howMany(gone)}`,
      undo: async () => void (await strictly(call("POST /api/trash/restore", { runs: gone }))),
      redo: async () => void (await strictly(call("POST /api/runs/delete", { runs: gone }))),
    },
    `Deleted ${howMany(gone)}`,
  );
  return true;
}

function howMany(runs: readonly string[]): string {
  return runs.length === 1 ? nameText(nameOf(runs[0] as string)) : count(runs.length, "run");
}

/** What came of it; what was refused, or failed, is said. */
async function attempt(act: () => Promise<Edited>): Promise<Edited | null> {
  try {
    const done = await act();
    const first = done.refused[0];
    if (first)
      toast(
        first.reason,
        "error",
        done.refused.length > 1 ? `${done.refused.length} runs were not changed` : "Not changed",
      );
    return done;
  } catch (fault) {
    toast(fault instanceof Error ? fault.message : String(fault), "error", "Not changed");
    return null;
  }
}

/** For undo: a refusal is a failure. */
export async function strictly(answer: Promise<Edited>): Promise<Edited> {
  const done = await answer;
  const first = done.refused[0];
  if (first) throw new Error(first.reason);
  return done;
}

export function DeleteDialog() {
  const now = asked.value;
  return now ? <Ask key={now.runs.join()} {...now} /> : null;
}

function Ask({ runs, onDone }: Question) {
  const [weight, setWeight] = useState<Weight | null>(null);
  const [force, setForce] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    call("POST /api/runs/weigh", { runs: [...runs] }).then(setWeight, () => setWeight({ bytes: null, running: [] }));
  }, []);
  const running = weight?.running.length ?? 0;
  const close = () => (asked.value = null);
  const yes = async () => {
    setBusy(true);
    const done = await deleteRuns(runs, force);
    close();
    if (done) onDone?.();
  };
  const nothingLeft = running === runs.length && !force;
  return (
    <Dialog title={runs.length === 1 ? "Delete this run?" : `Delete ${count(runs.length, "run")}?`} onClose={close}>
      <ul class="ask-runs">
        {runs.slice(0, NAMES).map((id) => (
          <li key={id} class="isolate ellipsis">
            {nameText(nameOf(id))}
            {known.value.get(id) ? (
              <span class="quiet isolate"> {visibleText(known.value.get(id)?.project ?? "")}</span>
            ) : null}
          </li>
        ))}
        {runs.length > NAMES ? <li class="quiet">and {count(runs.length - NAMES, "other")}</li> : null}
      </ul>
      <p class="ask-words">
        {weight?.bytes == null ? null : `${formatBytes(weight.bytes)} on the disk. `}
        {runs.length === 1 ? "It goes to the trash and can be restored." : "They go to the trash and can be restored."}
      </p>
      {running > 0 ? (
        <p class="banner ask-warning" data-tone="warn">
          <Checkbox
            checked={force}
            visible
            label={`Also the ${running === 1 ? "one that is" : `${running} that are`} still running`}
            onChange={setForce}
          />
        </p>
      ) : null}
      <div class="hstack gap-2 dialog-actions">
        <Button autoFocus onClick={close}>
          Cancel
        </Button>
        <Button kind="primary" class="button-bad" disabled={busy || nothingLeft} onClick={() => void yes()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
