/** What was deleted and can come back. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { now } from "../clock";
import { call } from "../lib/api";
import { count, formatAge, formatBytes, formatTimeZone, nameText, visibleText } from "../lib/format";
import type { TrashList } from "../lib/schema";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { strictly } from "./run-actions";
import { ErrorState, Skeleton } from "./states";
import { toast } from "./toast";
import { remember } from "./undo";

export const trashOpen = signal(false);

export function TrashDialog() {
  return trashOpen.value ? <Trash /> : null;
}

function Trash() {
  const [list, setList] = useState<TrashList | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [sure, setSure] = useState(false);
  const read = () =>
    call("POST /api/trash", {}).then(
      (found) => (setList(found), setFault(null)),
      (error: unknown) => setFault(error),
    );
  useEffect(() => void read(), []);
  const restore = async (runs: string[]) => {
    try {
      await strictly(call("POST /api/trash/restore", { runs }));
      remember(
        {
          words: `restore ${count(runs.length, "run")}`,
          undo: async () => void (await strictly(call("POST /api/runs/delete", { runs }))),
        },
        `Restored ${count(runs.length, "run")}`,
      );
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "error", "Not restored");
    }
    await read();
  };
  const empty = async () => {
    setSure(false);
    try {
      const done = await strictly(call("POST /api/trash/purge", {}));
      toast(`Removed ${count(done.changed.length, "run")} permanently`);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "error", "Not removed");
    }
    await read();
  };
  const close = () => (trashOpen.value = false);
  return (
    <Dialog title="Trash" onClose={close} wide>
      {fault ? (
        <ErrorState error={fault} onRetry={() => void read()} />
      ) : !list ? (
        <Skeleton width="50%" />
      ) : list.runs.length === 0 ? (
        <p class="quiet">The trash is empty. Deleted runs stay here for {count(list.days, "day")}.</p>
      ) : (
        <>
          <ul class="trash">
            {list.runs.map((run) => (
              <li key={run.id}>
                <span class="fill isolate ellipsis" title={run.id}>
                  {nameText(run.name)}
                  <span class="quiet"> {visibleText(run.project)}</span>
                </span>
                <span class="quiet">{formatBytes(run.bytes)}</span>
                <span class="quiet" title={formatTimeZone(run.deleted)}>
                  deleted {formatAge(run.deleted, now.value)}
                </span>
                <span class="quiet" title={`Deleted permanently on ${formatTimeZone(run.purged)}`}>
                  {daysLeft(run.purged - now.value)}
                </span>
                <Button onClick={() => void restore([run.id])}>Restore</Button>
              </li>
            ))}
          </ul>
          <div class="hstack gap-2 dialog-actions">
            <span class="quiet">{`${count(list.runs.length, "run")}, ${formatBytes(list.bytes)}`}</span>
            <span class="spring" />
            <Button onClick={() => void restore(list.runs.map((run) => run.id))}>Restore all</Button>
            {sure ? (
              <>
                <Button autoFocus onClick={() => setSure(false)}>
                  Keep them
                </Button>
                <Button class="button-bad" kind="primary" onClick={() => void empty()}>
                  Delete all permanently
                </Button>
              </>
            ) : (
              <Button kind="danger" onClick={() => setSure(true)}>
                Empty the trash…
              </Button>
            )}
          </div>
        </>
      )}
    </Dialog>
  );
}

function daysLeft(seconds: number): string {
  const days = Math.max(0, Math.ceil(seconds / 86400));
  return days === 1 ? "1 day left" : `${days} days left`;
}
