/** The list behind the bell: merged by id, newest first; what is muted, what is unread. */

import type { Notice } from "./schema";

export type NoticeKind = Notice["kind"];

export const MOST = 500;

export const KIND_WORDS: Readonly<Record<NoticeKind, string>> = {
  failed: "failed runs",
  lost: "lost runs",
  nonfinite: "NaN and Inf",
  stalled: "stalled runs",
  finding: "findings",
  alert: "alerts from the script",
  dropped: "dropped values",
  mention: "mentions",
};

/** Both lists as one, each notice once, the newest first. */
export function merged(old: readonly Notice[], fresh: readonly Notice[]): Notice[] {
  const byId = new Map([...old, ...fresh].map((notice) => [keyOf(notice), notice]));
  return [...byId.values()].sort((a, b) => b.time - a.time).slice(0, MOST);
}

export function keyOf(notice: Notice): string {
  return notice.id || `${notice.run}/${notice.title}/${notice.text}`;
}

/** `run:<id>`, `project:<name>` or `kind:<kind>`. */
export type Mute = string;

export function isMuted(notice: Notice, mutes: ReadonlySet<Mute>): boolean {
  return mutes.has(`run:${notice.run}`) || mutes.has(`project:${notice.project}`) || mutes.has(`kind:${notice.kind}`);
}

export function unread(notices: readonly Notice[], seen: number, mutes: ReadonlySet<Mute>): number {
  return notices.filter((notice) => notice.time > seen && !isMuted(notice, mutes)).length;
}

/** The page that shows what a notice is about: a run's, or the report's where a comment on one mentions somebody. */
export function pathOf(notice: Notice): string {
  return notice.run ? `/run/${notice.run}` : `/report/${notice.project}`;
}

/** The part of a run's page. */
export function partOf(kind: NoticeKind): string {
  if (kind === "finding") return "findings";
  if (kind === "nonfinite") return "charts";
  return kind === "stalled" ? "console" : "";
}
