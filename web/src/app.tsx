/** The frame around every page: top bar, the page the address names, help, messages. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { EmptyState, ErrorState, toast, Toasts } from "./components";
import { Help } from "./components/help";
import { TopBar } from "./components/topbar";
import { visibleText } from "./lib/format";
import { onLive } from "./lib/live";
import type { Live } from "./lib/schema";
import { linkTo, matchPage, type PageDef, place } from "./router";
import { nameOf } from "./state";

const files = import.meta.glob<{ default: PageDef }>("./views/*.tsx", { eager: true });
const pages = Object.values(files)
  .map((file) => file.default)
  .sort((a, b) => a.order - b.order);

/** What a run wants a person to know, wherever in the app they are. */
function showNotices(event: Live): void {
  for (const notice of event.notices.slice(-3)) {
    const name = nameOf(notice.run);
    const title = notice.title.includes(name) ? notice.title : `${notice.title} · ${name}`;
    toast(visibleText(notice.text), notice.level, visibleText(title), linkTo(`/run/${notice.run}`));
  }
}

export function App() {
  useEffect(() => onLive(showNotices), []);
  const path = place.value.path;
  const found = matchPage(pages, path === "/" ? (pages[0]?.path ?? "/") : path);
  useSignalEffect(() => {
    const page = matchPage(pages, place.value.path)?.page;
    document.title = page ? `${page.title} · Stepscope` : "Stepscope";
  });
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
      <main id="main" tabIndex={-1}>
        {found ? <Guarded key={found.page.path} page={found.page} params={found.params} /> : <NoSuchPage path={path} />}
      </main>
      <Help />
      <Toasts />
    </>
  );
}

function Guarded({ page, params }: { page: PageDef; params: Record<string, string> }) {
  const [error, reset] = useErrorBoundary((fault: unknown) => console.error(fault));
  if (error) return <ErrorState error={error} title="This page broke" onRetry={reset} />;
  return <page.Page params={params} />;
}

function NoSuchPage({ path }: { path: string }) {
  return (
    <EmptyState title="There is no such page">
      <p>
        <code class="isolate">{path}</code> is not a page of this version.
      </p>
      <p>
        <a href="#/runs">All runs</a>
      </p>
    </EmptyState>
  );
}
