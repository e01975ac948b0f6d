/** The command palette (Ctrl+K): go anywhere, do anything, find everything, with a few letters. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { allActions } from "../actions";
import { call, isAbort } from "../lib/api";
import { nameText, visibleText } from "../lib/format";
import { marked } from "../lib/fuzzy";
import { type Entry, foundSections, localSections, type Section, wordsAt } from "../lib/palette-entries";
import { noteRecent, readRecent } from "../lib/recent";
import type { Hit, SearchResult } from "../lib/schema";
import { LETTERS } from "../lib/page-keys";
import { go, type PageDef } from "../router";
import { openView, viewsHere } from "../saved-views";
import { project } from "../state";
import { iconOf } from "./palette-icons";
import { Key } from "./key";
import { SearchIcon } from "./icons";

export const paletteOpen = signal(false);
const REST_MS = 110;
const RECENT = "palette.recent";

export function Palette({ pages }: { pages: readonly PageDef[] }) {
  return paletteOpen.value ? <Box pages={pages} /> : null;
}

function Box({ pages }: { pages: readonly PageDef[] }) {
  const box = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const text = useSignal("");
  const found = useSignal<SearchResult | null>(null);
  const searching = useSignal(false);
  const cursor = useSignal(0);
  const recent = useRef(readRecent(RECENT));
  useLayoutEffect(() => {
    const element = box.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  useSearch(text.value, found, searching);

  const close = () => (paletteOpen.value = false);
  const sections = [
    ...localSections(text.value, entriesOf(pages), recent.current),
    ...(found.value && text.value.trim() !== "" ? foundSections(found.value, pickHit) : []),
  ];
  const flat = sections.flatMap((section) => section.entries);
  const at = Math.min(cursor.value, Math.max(0, flat.length - 1));
  const pick = (entry: Entry) => {
    if (["page", "action", "view", "help"].includes(entry.kind)) noteRecent(RECENT, entry.id);
    close();
    entry.pick();
  };
  const move = (to: number) => {
    cursor.value = (to + flat.length) % Math.max(1, flat.length);
    requestAnimationFrame(() =>
      list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }),
    );
  };
  const keys = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 8,
      PageUp: Math.max(0, at - 8),
    };
    const to = steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      move(event.key === "PageDown" ? Math.min(flat.length - 1, to) : to);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const chosen = flat[at];
      if (chosen) pick(chosen.entry);
    }
  };
  return (
    <dialog
      ref={box}
      class="clipped raised palette"
      aria-label="Command palette"
      onCancel={(event) => (event.preventDefault(), close())}
      onClick={(event) => event.target === box.current && close()}
    >
      <div class="hstack gap-3 rigid px-4 under quiet palette-field">
        <SearchIcon />
        <input
          type="text"
          role="combobox"
          aria-label="Find a page, an action, a run, a metric…"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          aria-activedescendant={flat.length > 0 ? `palette-${at}` : undefined}
          placeholder="Search everything"
          autocomplete="off"
          spellcheck={false}
          autoFocus
          value={text.value}
          maxLength={200}
          onKeyDown={keys}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            cursor.value = 0;
          }}
        />
        <Key>Esc</Key>
      </div>
      <div ref={list} id="palette-list" class="palette-list" role="listbox" aria-label="Results">
        <Results
          sections={sections}
          at={at}
          wanted={text.value}
          onPick={pick}
          onPoint={(index) => (cursor.value = index)}
        />
      </div>
      <p class="rigid px-4 py-2 small over quiet" role="status">
        {status(flat.length, text.value, searching.value, found.value?.unread ?? 0)}
      </p>
    </dialog>
  );
}

function status(count: number, text: string, searching: boolean, unread: number): string {
  if (text.trim() === "") return "Runs, metrics, findings, consoles, artifacts and reports are searched too.";
  if (searching) return "Searching…";
  const rest = unread > 0 ? ` ${unread} older runs were not searched.` : "";
  return count === 0 ? `Nothing matches “${visibleText(text.trim())}”.${rest}` : `${count} found.${rest}`;
}

/**
 * First what the catalogue knows, at once; then what lies in the runs, the newest first, until all were looked into.
 */
function useSearch(text: string, found: { value: SearchResult | null }, searching: { value: boolean }): void {
  useEffect(() => {
    const wanted = text.trim();
    if (wanted.length < 2) {
      found.value = null;
      searching.value = false;
      return;
    }
    const control = new AbortController();
    searching.value = true;
    const timer = setTimeout(async () => {
      try {
        let left = Number.POSITIVE_INFINITY;
        for (let deep = false, more = true; more; deep = true) {
          const request = { text: wanted, project: project.peek(), limit: 6, deep };
          const answer = await call("POST /api/search", request, { signal: control.signal });
          found.value = answer;
          // each answer takes little time and goes on from the one before
          more = !deep || (answer.unread > 0 && answer.unread < left);
          if (deep) left = answer.unread;
        }
      } catch (fault) {
        if (isAbort(fault)) return;
        found.value = null; // the page says when the server is gone; what is here can still be used
      }
      searching.value = false;
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text]);
}

interface ResultsProps {
  sections: readonly Section[];
  at: number;
  wanted: string;
  onPick(entry: Entry): void;
  onPoint(index: number): void;
}

function Results({ sections, at, wanted, onPick, onPoint }: ResultsProps) {
  let index = -1;
  return (
    <>
      {sections.map((section) => (
        <div key={section.title} role="group" aria-label={section.title}>
          <div class="apart tiny strong quiet palette-head" aria-hidden="true">
            {section.title}
            {section.more > 0 ? <span> {section.more.toLocaleString("en-US")} more</span> : null}
          </div>
          {section.entries.map(({ entry, at: letters }) => {
            index++;
            const own = index;
            const title = nameText(entry.title);
            const found = letters.length > 0 ? letters : wordsAt(wanted, title);
            return (
              <div
                key={entry.id}
                id={`palette-${own}`}
                class="option palette-item"
                role="option"
                aria-selected={own === at}
                onMouseMove={() => own !== at && onPoint(own)}
                onClick={() => onPick(entry)}
              >
                <span class="centered rigid quiet palette-icon">{iconOf(entry)}</span>
                <span class="palette-title isolate ellipsis">
                  {marked(title, found).map((part, number) =>
                    part.on ? <mark key={number}>{part.text}</mark> : part.text,
                  )}
                </span>
                <span class="small isolate ellipsis quiet palette-detail">{visibleText(entry.detail)}</span>
                {entry.keys ? (
                  <span class="palette-keys">
                    {entry.keys.split(" ").map((key) => (
                      <Key key={key}>{key}</Key>
                    ))}
                  </span>
                ) : null}
              </div>
            );
          })}
        </div>
      ))}
    </>
  );
}

function entriesOf(pages: readonly PageDef[]): Entry[] {
  const toPages = pages
    .filter((page) => page.nav)
    .map((page) => ({
      id: `page:${page.path}`,
      kind: "page" as const,
      title: page.title,
      detail: "",
      words: "go to",
      ...(LETTERS[page.path] ? { keys: `g ${LETTERS[page.path]}` } : {}),
      pick: () => go(page.path),
    }));
  const actions = allActions().map((action) => ({
    id: `action:${action.id}`,
    kind: "action" as const,
    title: action.title,
    detail: "",
    ...(action.words ? { words: action.words } : {}),
    ...(action.keys ? { keys: action.keys } : {}),
    pick: () => action.run(),
  }));
  const views = viewsHere.value.map((view) => ({
    id: `view:${view.id}`,
    kind: "view" as const,
    title: view.name,
    detail: pages.find((page) => page.path === view.page)?.title ?? view.page,
    pick: () => openView(view),
  }));
  return [...toPages, ...actions, ...views];
}

/** Where a hit of the search leads. */
function pickHit(hit: Hit): void {
  switch (hit.kind) {
    case "run":
      return go(`/run/${hit.run}`, { part: "" });
    case "metric":
      return go("/charts", { find: hit.key, full: "" });
    case "finding":
      return go(`/run/${hit.run}`, { part: "findings", finding: hit.key });
    case "console":
      return go(`/run/${hit.run}`, { part: "console", grep: hit.key });
    case "artifact":
      return go(`/run/${hit.run}`, { part: "files", artifact: hit.key });
    case "report":
      return go(`/report/${hit.key}`);
    case "project":
      return go("/runs", { project: hit.key });
  }
}
