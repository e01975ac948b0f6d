/** Project, pages, search, saved views, notifications, live state, theme, help: one slim line. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../lib/api";
import { visibleText } from "../lib/format";
import { liveState, onLive } from "../lib/live";
import { LETTERS } from "../lib/page-keys";
import type { Info } from "../lib/schema";
import { useKeys } from "../keys";
import { go, linkTo, type PageDef } from "../router";
import { project, signedIn } from "../state";
import { nextTheme, themeChoice } from "../theme";
import { IconButton } from "./button";
import { describeKeys, helpOpen } from "./help";
import {
  ChevronDownIcon,
  FolderIcon,
  HelpIcon,
  LogoIcon,
  MenuIcon,
  MoonIcon,
  SearchIcon,
  SunIcon,
  SystemIcon,
} from "./icons";
import { LiveBadge } from "./live-badge";
import { Bell } from "./notifications";
import { paletteOpen } from "./palette";
import { Menu, type MenuItem } from "./popover";
import { SavedViewsMenu } from "./saved-views";
import { Key } from "./key";
import { again, takeBack } from "./undo";

/** What the server is; read again when the live line comes back. */
export const info = signal<Info | null>(null);

const INFO_MS = 4000;
const SHORTCUT = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘K" : "Ctrl K";

let reading: Promise<void> | null = null;

function readInfo(): Promise<void> {
  reading ??= call("GET /api/info", {})
    .then(
      (answer) => ((info.value = answer), void (signedIn.value = answer.user)),
      () => undefined, // The page below shows its own error, with a way to try again; the bar keeps what it knew.
    )
    .finally(() => (reading = null));
  return reading;
}

/** Reads it again when the store has changed, at most every few seconds: only the list of projects depends on it. */
function followInfo(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onLive((event) => {
    if (event.version === info.peek()?.catalogue_version) return;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        // The first event often comes while the first answer is on its way, and then tells nothing new.
        void Promise.resolve(reading).then(() =>
          event.version === info.peek()?.catalogue_version ? undefined : readInfo(),
        );
      },
      info.peek() === null || info.peek()?.runs === 0 ? 0 : INFO_MS,
    );
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** The keys that work on every page, for the pages that there are. */
export function describePageKeys(pages: readonly PageDef[]): void {
  const toPages = pages.flatMap((page) =>
    LETTERS[page.path] ? [[`g ${LETTERS[page.path]}`, `go to ${page.title}`]] : [],
  );
  describeKeys("Everywhere", {
    "Ctrl+K": "search everything",
    "?": "this list",
    ...(Object.fromEntries(toPages) as Record<string, string>),
    "Ctrl+Z": "undo",
    "Ctrl+Shift+Z": "redo",
    t: "light, dark or system theme",
    Esc: "close what is open",
  });
}

export function TopBar({ pages, current }: { pages: readonly PageDef[]; current: PageDef | null }) {
  const live = liveState.value.kind;
  useEffect(() => void readInfo(), [live === "retrying"]);
  useEffect(followInfo, []);
  const tabs = pages.filter((page) => page.nav);
  useKeys({
    "?": () => (helpOpen.value = true),
    t: nextTheme,
    "Mod+k": () => (paletteOpen.value = true),
    "Mod+z": () => void takeBack(),
    "Mod+Shift+z": () => void again(),
    ...Object.fromEntries(
      tabs.flatMap((page) => (LETTERS[page.path] ? [[`g ${LETTERS[page.path]}`, () => go(page.path)]] : [])),
    ),
  });
  return (
    <header class="hstack gap-2 rigid under subtle topbar">
      <a class="hstack gap-2 strong brand" href={linkTo("/runs")} aria-label="Stepscope, all runs">
        <LogoIcon size={18} />
        <span>Stepscope</span>
      </a>
      <ProjectMenu />
      <PagesMenu tabs={tabs} current={current} />
      <nav class="tabs" aria-label="Pages">
        {tabs.map((page) => (
          <a
            key={page.path}
            href={linkTo(page.path)}
            class="hstack soft medium tab"
            aria-current={page === current ? "page" : undefined}
          >
            {page.title}
          </a>
        ))}
      </nav>
      <span class="spring" />
      <button
        type="button"
        class="inline rigid soft search-button"
        aria-label={`Search ${SHORTCUT}`}
        title="Search everything"
        onClick={() => (paletteOpen.value = true)}
      >
        <SearchIcon size={14} />
        <span>Search</span> <Key>{SHORTCUT}</Key>
      </button>
      <LiveBadge />
      {info.value?.user ? (
        <a class="hstack soft medium tab" href={linkTo("/people")} title="Tokens, users and roles">
          {visibleText(info.value.user)}
        </a>
      ) : null}
      <SavedViewsMenu pages={pages} />
      <Bell />
      <IconButton label={`Theme: ${themeChoice.value} (t)`} class="theme-button" onClick={nextTheme}>
        {themeChoice.value === "dark" ? <MoonIcon /> : themeChoice.value === "light" ? <SunIcon /> : <SystemIcon />}
      </IconButton>
      <IconButton label="Keyboard shortcuts (?)" class="help-button" onClick={() => (helpOpen.value = true)}>
        <HelpIcon />
      </IconButton>
    </header>
  );
}

/** The pages as a menu, where there is no room for tabs. */
function PagesMenu({ tabs, current }: { tabs: readonly PageDef[]; current: PageDef | null }) {
  const items: MenuItem[] = tabs.map((page) => ({
    key: page.path,
    label: page.title,
    checked: page === current,
    onPick: () => go(page.path),
  }));
  const more: MenuItem[] = [
    { key: "theme", label: `Theme: ${themeChoice.value}`, onPick: nextTheme },
    { key: "help", label: "Keyboard shortcuts", onPick: () => (helpOpen.value = true) },
  ];
  return (
    <Menu
      label={`Pages: ${current?.title ?? "Pages"}`}
      buttonClass="button button-quiet pages-button"
      button={
        <>
          <MenuIcon size={16} />
          <span>{current?.title ?? "Pages"}</span>
        </>
      }
      items={[...items, ...more]}
    />
  );
}

function ProjectMenu() {
  const names = info.value?.projects ?? [];
  const chosen = project.value;
  if (names.length < 2 && !chosen)
    return names[0] ? <span class="project-name isolate ellipsis">{visibleText(names[0])}</span> : null;
  const pick = (name: string): MenuItem => ({
    key: `p:${name}`,
    label: <span class="isolate ellipsis">{name === "" ? "All projects" : visibleText(name)}</span>,
    checked: name === chosen,
    onPick: () => (project.value = name),
  });
  return (
    <Menu
      label={`Project: ${chosen === "" ? "All projects" : visibleText(chosen)}`}
      buttonClass="button button-quiet project-button"
      button={
        <>
          <FolderIcon size={14} />
          <span class="isolate ellipsis">{chosen === "" ? "All projects" : visibleText(chosen)}</span>
          <ChevronDownIcon size={12} />
        </>
      }
      items={["", ...new Set([...names, ...(chosen ? [chosen] : [])])].map(pick)}
    />
  );
}
