/** Project, pages, live state, theme, help: one slim line. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../lib/api";
import { visibleText } from "../lib/format";
import { liveState, onLive } from "../lib/live";
import type { Info } from "../lib/schema";
import { useKeys } from "../keys";
import { go, linkTo, type PageDef } from "../router";
import { project } from "../state";
import { nextTheme, themeChoice } from "../theme";
import { IconButton } from "./button";
import { helpOpen } from "./help";
import { ChevronDownIcon, FolderIcon, HelpIcon, LogoIcon, MoonIcon, SunIcon, SystemIcon } from "./icons";
import { LiveBadge } from "./live-badge";
import { Menu, type MenuItem } from "./popover";

/** What the server is; read again when the live line comes back. */
export const info = signal<Info | null>(null);

async function readInfo(): Promise<void> {
  try {
    info.value = await call("GET /api/info", {});
  } catch {
    // The page below shows its own error, with a way to try again; the bar keeps what it knew.
  }
}

export function TopBar({ pages, current }: { pages: readonly PageDef[]; current: PageDef | null }) {
  const live = liveState.value.kind;
  useEffect(() => void readInfo(), [live === "retrying"]);
  useEffect(() => onLive((event) => event.version !== info.peek()?.catalogue_version && void readInfo()), []);
  useKeys({
    "?": () => (helpOpen.value = true),
    t: nextTheme,
    "g r": () => go("/runs"),
    "g c": () => go("/charts"),
    "g m": () => go("/model"),
    "g p": () => go("/profile"),
  });
  return (
    <header class="topbar">
      <a class="brand" href={linkTo("/runs")} aria-label="Stepscope, all runs">
        <LogoIcon size={18} />
        <span>Stepscope</span>
      </a>
      <ProjectMenu />
      <nav class="tabs" aria-label="Pages">
        {pages
          .filter((page) => page.nav)
          .map((page) => (
            <a
              key={page.path}
              href={linkTo(page.path)}
              class="tab"
              aria-current={page === current ? "page" : undefined}
            >
              {page.title}
            </a>
          ))}
      </nav>
      <span class="spring" />
      <LiveBadge />
      <IconButton label={`Theme: ${themeChoice.value} (t)`} onClick={nextTheme}>
        {themeChoice.value === "dark" ? <MoonIcon /> : themeChoice.value === "light" ? <SunIcon /> : <SystemIcon />}
      </IconButton>
      <IconButton label="Keyboard shortcuts (?)" onClick={() => (helpOpen.value = true)}>
        <HelpIcon />
      </IconButton>
    </header>
  );
}

function ProjectMenu() {
  const names = info.value?.projects ?? [];
  const chosen = project.value;
  if (names.length < 2 && !chosen)
    return names[0] ? <span class="project-name isolate">{visibleText(names[0])}</span> : null;
  const pick = (name: string): MenuItem => ({
    key: `p:${name}`,
    label: <span class="isolate ellipsis">{name === "" ? "All projects" : visibleText(name)}</span>,
    checked: name === chosen,
    onPick: () => (project.value = name),
  });
  return (
    <Menu
      label="Choose a project"
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
