/** The bell: what runs wanted a person to know, also while nobody looked; how it is told, and what is muted. */

import { computed, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../clock";
import { call } from "../lib/api";
import { formatAge, formatTimeZone, visibleText } from "../lib/format";
import { onLive } from "../lib/live";
import { mentionNotice } from "../lib/mentions";
import { isMuted, KIND_WORDS, keyOf, merged, type Mute, type NoticeKind, partOf, pathOf, unread } from "../lib/notices";
import type { Notice } from "../lib/schema";
import { readStored, writeStored } from "../lib/stored";
import { linkTo } from "../router";
import { signedIn } from "../state";
import { Button, IconButton } from "./button";
import { Toggle } from "./fields";
import { BellIcon, BellOffIcon } from "./icons";
import { Popover } from "./popover";
import { closeLinked, toast } from "./toast";

const AT_ONCE = 3;

const notices = signal<readonly Notice[]>([]);
const outlets = signal<readonly string[]>([]);
const seen = signal(Number(readStored("notices.seen") ?? 0) || 0);
const mutes = signal<ReadonlySet<Mute>>(new Set((readStored("notices.muted") ?? "").split("\n").filter(Boolean)));
/** Whether the browser shows them too, while the page is in the background. */
const outside = signal(readStored("notices.outside") === "1" && canNotify() && Notification.permission === "granted");
const fresh = computed(() => unread(notices.value, seen.value, mutes.value));

function canNotify(): boolean {
  return "Notification" in window && isSecureContext;
}

function mute(what: Mute, on: boolean): void {
  const next = new Set(mutes.peek());
  if (on) next.add(what);
  else next.delete(what);
  mutes.value = next;
  writeStored("notices.muted", [...next].join("\n"));
}

function markRead(): void {
  void markMentions();
  seen.value = Math.max(1, seen.peek(), ...notices.peek().map((one) => one.time));
  writeStored("notices.seen", String(seen.peek()));
}

async function readNotices(): Promise<void> {
  try {
    const answer = await call("POST /api/alerts", {});
    outlets.value = answer.outlets;
    notices.value = merged(notices.peek(), answer.alerts);
    if (seen.peek() === 0) markRead(); // the first visit: what was before it is history
  } catch {
    // The bell stays as it was; the page says when the server is gone.
  }
}

/** Comments that name me, on a team's server; they stay until I have opened the list. */
async function readMentions(): Promise<void> {
  try {
    const { comments } = await call("POST /api/mentions", {});
    const known = new Set(notices.peek().map(keyOf));
    tell(comments.map(mentionNotice).filter((notice) => !known.has(keyOf(notice))));
  } catch {
    // An app without people has none.
  }
}

async function markMentions(): Promise<void> {
  const ids = notices.peek().flatMap((one) => (one.kind === "mention" ? [one.id.replace("mention/", "")] : []));
  if (ids.length > 0) await call("POST /api/mentions/seen", { comments: ids }).catch(() => undefined);
}

function address(notice: Notice): string {
  return linkTo(pathOf(notice), { part: partOf(notice.kind) });
}

/** What a run wants a person to know, wherever in the app they are. */
function tell(arrived: readonly Notice[]): void {
  notices.value = merged(notices.peek(), arrived);
  const loud = arrived.filter((notice) => !isMuted(notice, mutes.peek()));
  for (const notice of loud.slice(-AT_ONCE)) {
    const title = notice.title.includes(notice.name) ? notice.title : `${notice.title} · ${notice.name}`;
    toast(visibleText(notice.text), notice.level, visibleText(title), address(notice));
    if (outside.peek() && document.hidden) show(notice, title);
  }
  if (loud.length > AT_ONCE) toast(`${loud.length - AT_ONCE} more are in the list under the bell.`, "warning");
}

function show(notice: Notice, title: string): void {
  let shown: Notification;
  try {
    shown = new Notification(visibleText(title), { body: visibleText(notice.text), tag: keyOf(notice) });
  } catch {
    return; // browsers of phones have the name, but let only service workers use it
  }
  shown.onclick = () => {
    window.focus();
    location.hash = address(notice);
    shown.close();
  };
}

export function Bell() {
  const user = signedIn.value;
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    void readNotices();
    return onLive((event) => event.notices.length > 0 && tell(event.notices));
  }, []);
  useEffect(() => {
    if (!user) return;
    void readMentions();
    return onLive((event) => event.comments.length > 0 && void readMentions());
  }, [user]);
  const count = fresh.value;
  const words = count === 0 ? "Notifications" : `Notifications, ${count} new`;
  const toggle = () => {
    if (!open) {
      closeLinked();
      void readNotices();
    }
    setOpen(!open);
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="icon-button bell"
        aria-label={words}
        title={words}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={toggle}
      >
        <BellIcon />
        {count > 0 ? <span class="bell-count">{count > 99 ? "99+" : count}</span> : null}
      </button>
      {open ? (
        <Popover
          anchor={anchor.current}
          label="Notifications"
          align="end"
          class="vstack clipped notices-popover"
          onClose={() => {
            markRead();
            setOpen(false);
          }}
        >
          <List onGo={() => (markRead(), setOpen(false))} />
        </Popover>
      ) : null}
    </>
  );
}

function List({ onGo }: { onGo(): void }) {
  const [kind, setKind] = useState<NoticeKind | "">("");
  const [quiet, setQuiet] = useState(false);
  const all = notices.value; // of every project, as the bell counts them
  const kinds = [...new Set(all.map((notice) => notice.kind))];
  const shown = all.filter((one) => (kind === "" || one.kind === kind) && (quiet || !isMuted(one, mutes.value)));
  const hidden = all.length - all.filter((one) => !isMuted(one, mutes.value)).length;
  return (
    <div class="notices">
      <header>
        <h2>Notifications</h2>
        <span class="spring" />
        {kinds.length > 1 ? (
          <select
            class="select"
            aria-label="Kind"
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value as NoticeKind | "")}
          >
            <option value="">All kinds</option>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {KIND_WORDS[one]}
              </option>
            ))}
          </select>
        ) : null}
      </header>
      {shown.length === 0 ? (
        <p class="none quiet">
          {all.length > 0
            ? "No notifications of this kind."
            : "Nothing yet. Runs that fail, stall or diverge, and errors that rules find, appear here."}
        </p>
      ) : (
        <ul tabIndex={0} aria-label="Notifications, newest first">
          {shown.slice(0, 200).map((notice) => (
            <Item key={keyOf(notice)} notice={notice} onGo={onGo} />
          ))}
        </ul>
      )}
      <footer>
        {hidden > 0 ? (
          <Button kind="quiet" onClick={() => setQuiet(!quiet)}>
            {quiet ? "Hide muted" : `Show ${hidden} muted`}
          </Button>
        ) : null}
        <span class="spring" />
        {canNotify() ? (
          <Toggle checked={outside.value} label="On this desktop" onChange={(on) => void setOutside(on)} />
        ) : null}
      </footer>
      {outlets.value.length > 0 ? <p class="notices-outlets quiet">Also sent to: {outlets.value.join(", ")}</p> : null}
    </div>
  );
}

function Item({ notice, onGo }: { notice: Notice; onGo(): void }) {
  const [choosing, setChoosing] = useState(false);
  const muted = isMuted(notice, mutes.value);
  const choices: [Mute, string][] = [
    [`run:${notice.run}`, "this run"],
    [`project:${notice.project}`, `project ${visibleText(notice.project)}`],
    [`kind:${notice.kind}`, KIND_WORDS[notice.kind]],
  ];
  return (
    <li
      data-level={notice.level}
      data-new={notice.time > seen.value && !muted ? "" : undefined}
      data-muted={muted ? "" : undefined}
    >
      <a href={address(notice)} onClick={onGo}>
        <strong class="isolate">{visibleText(notice.title)}</strong>
        {notice.text ? <span class="isolate">{visibleText(notice.text)}</span> : null}
        <span class="quiet">
          <span class="isolate">{visibleText(notice.name)}</span> ·{" "}
          <span class="isolate">{visibleText(notice.project)}</span> ·{" "}
          <span title={formatTimeZone(notice.time)}>{formatAge(notice.time, now.value)}</span>
        </span>
      </a>
      <IconButton
        label={`Mute ${visibleText(notice.name)}…`}
        pressed={choosing || muted}
        onClick={() => setChoosing(!choosing)}
      >
        <BellOffIcon size={14} />
      </IconButton>
      {choosing ? (
        <div class="hstack wraps gap-1 notices-mute" role="group" aria-label="Mute">
          <span class="quiet">Mute</span>
          {choices.map(([what, words]) => (
            <button
              key={what}
              type="button"
              class="pill isolate ellipsis mute-choice"
              aria-pressed={mutes.value.has(what)}
              onClick={() => mute(what, !mutes.peek().has(what))}
            >
              {words}
            </button>
          ))}
        </div>
      ) : null}
    </li>
  );
}

async function setOutside(on: boolean): Promise<void> {
  if (on && (await Notification.requestPermission()) !== "granted") {
    toast("The browser does not allow notifications from this page; its settings can change that.", "warning");
    on = false;
  }
  outside.value = on;
  writeStored("notices.outside", on ? "1" : "0");
}
