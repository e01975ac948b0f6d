/** The frame around every page: top bar, the page the address names, help, messages. */

import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { type Action, useActions } from "./actions";
import { copyText, EmptyState, ErrorState, Toasts } from "./components";
import { ColorBar } from "./components/color-bar";
import { Help, helpOpen } from "./components/help";
import { Palette } from "./components/palette";
import { QueryHelp, queryHelpOpen } from "./components/query-help";
import { askDelete, DeleteDialog, setArchived } from "./components/run-actions";
import { describePageKeys, info, TopBar } from "./components/topbar";
import { TrashDialog, trashOpen } from "./components/trash";
import { again, takeBack } from "./components/undo";
import { keepColors } from "./color-by";
import { keepLayouts, openDefaultView } from "./layouts";
import { count } from "./lib/format";
import { go, matchPage, type PageDef, place } from "./router";
import { loadViews } from "./saved-views";
import { clearSelection } from "./clear-selection";
import { selected } from "./state";
import { themeChoice } from "./theme";
import { keepTitle } from "./title";
import { beginReport } from "./views/reports/begin";

const files = import.meta.glob<{ default: PageDef }>("./views/*.tsx", { eager: true });
const pages = Object.values(files)
  .map((file) => file.default)
  .sort((a, b) => a.order - b.order);

describePageKeys(pages.filter((page) => page.nav));
keepLayouts();
keepColors();
keepTitle(pages);

/** What can be done on every page, for the command palette. */
function everywhere(): Action[] {
  const themes = (["light", "dark", "system"] as const).map((theme) => ({
    id: `theme.${theme}`,
    title: `Theme: ${theme}`,
    words: "colors colours appearance night day",
    run: () => (themeChoice.value = theme),
  }));
  return [
    ...themes,
    { id: "help.keys", title: "Keyboard shortcuts", keys: "?", words: "help keys", run: () => (helpOpen.value = true) },
    {
      id: "help.queries",
      title: "How to write queries",
      words: "help filter language examples",
      run: () => (queryHelpOpen.value = true),
    },
    { id: "undo", title: "Undo", keys: "Ctrl Z", run: () => void takeBack() },
    { id: "redo", title: "Redo", keys: "Ctrl Shift Z", words: "redo", run: () => void again() },
    {
      id: "link",
      title: "Copy a link to this page",
      words: "share url address",
      run: () => void copyText(location.href, "Link copied"),
    },
    { id: "trash", title: "Trash: deleted runs", words: "restore bin", run: () => (trashOpen.value = true) },
  ];
}

/** What can be done with the chosen runs. */
function withChosen(ids: readonly string[], fixed: boolean): Action[] {
  if (ids.length === 0) return [];
  const many = count(ids.length, "selected run");
  const changes: Action[] = [
    { id: "chosen.archive", title: `Archive ${many}`, words: "hide", run: () => void setArchived(ids, true) },
    { id: "chosen.delete", title: `Delete ${many}…`, words: "remove trash", run: () => askDelete(ids) },
  ];
  return [
    { id: "chosen.charts", title: `Show ${many} in Charts`, run: () => go("/charts") },
    { id: "chosen.compare", title: `Compare ${many}`, words: "difference", run: () => go("/compare") },
    { id: "chosen.report", title: `Make a report of ${many}`, words: "share write tell", run: () => beginReport(ids) },
    { id: "chosen.none", title: "Clear the selection", words: "clear selection", run: clearSelection },
    ...(fixed ? [] : changes),
  ];
}

export function App() {
  const fixed = info.value?.read_only ?? false;
  useActions(everywhere());
  useActions(withChosen(selected.value, fixed), [selected.value, fixed]);
  useEffect(() => {
    void openDefaultView();
    void loadViews();
  }, []);
  const path = place.value.path;
  const found = matchPage(pages, path === "/" ? (pages[0]?.path ?? "/") : path);
  const main = useFocusOnNewPage(found?.page.path ?? path);
  return (
    <>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}
      >
        Skip to content
      </a>
      <TopBar pages={pages} current={found?.page ?? null} />
      <ColorBar path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        {found?.page.nav && found.page.path !== "/reports" ? <h1 class="visually-hidden">{found.page.title}</h1> : null}
        {found ? <Guarded key={found.page.path} page={found.page} params={found.params} /> : <NoSuchPage path={path} />}
      </main>
      <Help />
      <Palette pages={pages} />
      <QueryHelp />
      <DeleteDialog />
      <TrashDialog />
      <Toasts />
    </>
  );
}

/** A link to another page takes the focus into it, as loading a page would; the first page leaves it where it is. */
function useFocusOnNewPage(path: string) {
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    const held = document.activeElement;
    // Somebody who moves along the tabs with the keyboard stays there.
    if (held === document.body || !held?.isConnected) main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}

function Guarded({ page, params }: { page: PageDef; params: Record<string, string> }) {
  const [error, reset] = useErrorBoundary((fault: unknown) => console.error(fault));
  if (error) return <ErrorState error={error} title="Something went wrong on this page" onRetry={reset} />;
  return <page.Page params={params} />;
}

function NoSuchPage({ path }: { path: string }) {
  return (
    <EmptyState title="Page not found">
      <p>
        <code class="isolate">{path}</code> does not exist in this version.
      </p>
      <p>
        <a href="#/runs">All runs</a>
      </p>
    </EmptyState>
  );
}
