/**
 * Layouts come back: the columns of Runs and the panels of Charts, for each project, as they were left in this browser.
 * What an address says always wins: a link shows the same to everybody. Each change can be taken back with Ctrl+Z.
 */

import { effect, untracked } from "@preact/signals";
import { remember, settleFirst } from "./components/undo";
import { changeWords, ofPage, pageKeys } from "./lib/view-query";
import { readStored, writeStored } from "./lib/stored";
import { amend, place } from "./router";
import { defaultView, loadViews, openView } from "./saved-views";
import { project } from "./state";

const REST_MS = 600;

function nameOf(path: string): string {
  return `layout.${project.peek()}.${path}`;
}

function stored(path: string): Record<string, string> {
  try {
    const parsed: unknown = JSON.parse(readStored(nameOf(path)) ?? "{}");
    if (typeof parsed !== "object" || parsed === null) return {};
    const known = new Set(pageKeys(path));
    const pairs = Object.entries(parsed).filter(([key, value]) => known.has(key) && typeof value === "string");
    return Object.fromEntries(pairs) as Record<string, string>;
  } catch {
    return {};
  }
}

let applying = false;

/** Puts a page's part of the address as it is told: what is not named is emptied. */
function setLayout(path: string, layout: Readonly<Record<string, string>>): void {
  if (place.peek().path !== path) return;
  applying = true;
  amend({ ...Object.fromEntries(pageKeys(path).map((key) => [key, ""])), ...layout });
  applying = false;
}

/** Starts keeping layouts; called once, before the first page is drawn. */
export function keepLayouts(): void {
  let path = "";
  let before: Record<string, string> = {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: (() => void) | null = null;
  const opened = new Set<string>();
  // Who came by a link sees what the sender saw, with the usual columns if it names none.
  const linked = Object.keys(place.peek().query).some((name) => name !== "project");

  const settle = (at: string, now: Record<string, string>) => {
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    const was = before;
    before = now;
    writeStored(nameOf(at), JSON.stringify(now));
    remember({ words: changeWords(was, now), undo: () => put(at, was), redo: () => put(at, now) });
  };
  const put = (at: string, layout: Record<string, string>) => {
    before = layout;
    setLayout(at, layout);
    writeStored(nameOf(at), JSON.stringify(layout));
  };

  const settleNow = () => {
    clearTimeout(timer);
    waiting?.();
    waiting = null;
  };
  settleFirst(settleNow);

  effect(() => {
    const { path: at, query } = place.value;
    untracked(() => {
      clearTimeout(timer);
      waiting = null;
      const now = ofPage(at, query);
      if (at !== path) {
        path = at;
        before = now;
        const key = `${project.peek()} ${at}`;
        const first = !linked && pageKeys(at).length > 0 && !opened.has(key);
        opened.add(key);
        if (first && Object.keys(now).length === 0) {
          const kept = stored(at);
          if (Object.keys(kept).length > 0) queueMicrotask(() => put(at, kept));
        }
        return;
      }
      if (applying) return;
      waiting = () => settle(at, now);
      timer = setTimeout(settleNow, REST_MS);
    });
  });
}

/** A page that was opened with nothing in its address shows its default view, if somebody made one. */
export async function openDefaultView(): Promise<void> {
  const { path } = place.peek();
  const page = path === "/" ? "/runs" : path;
  const untouched = () => Object.entries(place.peek().query).every(([key, value]) => key === "project" || value === "");
  if (!untouched()) return;
  await loadViews();
  if (place.peek().path !== path || !untouched()) return; // somebody has moved on, chosen or typed something meanwhile
  const view = defaultView(page);
  if (view) openView(view, true);
}
