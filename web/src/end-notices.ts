/** Tells on the desktop when a run ends or goes wrong, if a person asked for it with a click on that run's page. */

import { signal } from "@preact/signals";
import { toast } from "./components/toast";
import { visibleText } from "./lib/format";
import { onLive } from "./lib/live";
import { readStored, writeStored } from "./lib/stored";
import { known } from "./state";

const NAME = "notify.runs";
const MOST = 100;

export const followed = signal<ReadonlySet<string>>(new Set((readStored(NAME) ?? "").split(" ").filter(Boolean)));
export const canNotify = (): boolean => "Notification" in window && isSecureContext;

function keep(next: readonly string[]): void {
  followed.value = new Set(next.slice(-MOST));
  writeStored(NAME, next.slice(-MOST).join(" "));
}

/** Begins or ends to follow a run. The browser asks for its permission here, after a click, and nowhere else. */
export async function toggleFollowed(run: string): Promise<void> {
  if (followed.peek().has(run)) return keep([...followed.peek()].filter((other) => other !== run));
  if (!canNotify())
    return toast("This browser shows notifications on https pages and on this machine only.", "warning");
  const answer = Notification.permission === "granted" ? "granted" : await Notification.requestPermission();
  if (answer !== "granted") return toast("The browser does not allow notifications for this page.", "warning");
  keep([...followed.peek(), run]);
}

function show(run: string, title: string, body: string): void {
  try {
    const shown = new Notification(visibleText(title), { body: visibleText(body), tag: `${run} ${title}` });
    shown.onclick = () => {
      window.focus();
      location.hash = `#/run/${run}`;
      shown.close();
    };
  } catch {
    toast(body, "info", title); // browsers of phones have the name, but let only service workers use it
  }
}

onLive((event) => {
  const mine = followed.peek();
  if (mine.size === 0) return;
  for (const notice of event.notices) if (mine.has(notice.run)) show(notice.run, notice.title, notice.text);
  const ended = event.changed.filter((change) => mine.has(change.id) && change.status !== "running");
  for (const { id, status } of ended)
    show(id, `${known.peek().get(id)?.name ?? "Run"} ${status === "finished" ? "has finished" : `is ${status}`}`, "");
  if (ended.length > 0) keep([...mine].filter((id) => !ended.some((one) => one.id === id)));
});
