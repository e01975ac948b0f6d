/** The title of the browser's tab. It has one writer, so that a page and the frame around it never take turns. */

import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visibleText } from "./lib/format";
import { matchPage, type PageDef, place } from "./router";

/** What the open page calls the thing it shows: a run, a report. Nobody else writes it. */
const shown = signal<string | null>(null);

/** While this page shows a thing of that name, the tab bears it; before and after, the page's own title. */
export function useTitle(name: string | null): void {
  useEffect(() => {
    shown.value = name;
    return () => (shown.value = null);
  }, [name]);
}

/** From now on the tab says which page is open, and what it shows. */
export function keepTitle(pages: PageDef[]): void {
  effect(() => {
    const name = shown.value ?? matchPage(pages, place.value.path)?.page.title;
    document.title = name ? `${visibleText(name)} · Stepscope` : "Stepscope";
  });
}
