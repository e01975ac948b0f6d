/**
 * Named layouts of pages: in the store, shared with everybody who opens it; in this browser where the store is
 * read-only.
 */

import { computed, signal } from "@preact/signals";
import { call } from "./lib/api";
import type { SavedView } from "./lib/schema";
import { readStored, writeStored } from "./lib/stored";
import { layoutQuery } from "./lib/view-query";
import { amend, go, place } from "./router";
import { project } from "./state";

export const views = signal<readonly SavedView[]>([]);
/** False: the server keeps no views, so they stay in this browser. */
export const shared = signal(true);
let asked: Promise<void> | null = null;

/** Reads the views once; later calls wait for the same answer. */
export function loadViews(): Promise<void> {
  asked ??= call("POST /api/views", {}).then(
    (answer) => take(answer),
    () => {
      asked = null; // asked again when the menu is opened
    },
  );
  return asked;
}

function take(answer: { views: SavedView[]; writable: boolean }): void {
  shared.value = answer.writable;
  views.value = [...answer.views, ...ownViews()];
}

/** The views of this page, or of all pages, in the project that is shown. */
export const viewsHere = computed(() =>
  views.value.filter((view) => view.project === "" || project.value === "" || view.project === project.value),
);

/** Shows a view; with `quietly`, without a step for the back button. */
export function openView(view: SavedView, quietly = false): void {
  const emptied = Object.fromEntries(Object.keys(place.peek().query).map((key) => [key, ""]));
  const query = { ...emptied, ...(view.project ? { project: view.project } : {}), ...view.query };
  if (quietly && place.peek().path === view.page) amend(query);
  else go(view.page, query);
}

/** Whether the page stands as the view says. */
export function isOpen(view: SavedView): boolean {
  const now = layoutQuery(place.value.query);
  return (
    place.value.path === view.page && JSON.stringify(sorted(now)) === JSON.stringify(sorted(layoutQuery(view.query)))
  );
}

function sorted(query: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
}

export interface NewView {
  name: string;
  isDefault?: boolean;
  /** The view to write over. */
  over?: SavedView;
  /** Keeps the layout of `over`: only its name or its place as the default changes. */
  keep?: boolean;
}

/** Saves the page as it stands now. */
export async function saveView({ name, isDefault, over, keep = false }: NewView): Promise<void> {
  const request = {
    name,
    page: keep && over ? over.page : place.peek().path,
    query: keep && over ? { ...over.query } : layoutQuery(place.peek().query),
    project: over ? over.project : project.peek(),
    default: isDefault ?? over?.default ?? false,
    id: over?.id ?? "",
  };
  if (shared.peek() && !isOwn(over)) return take(await call("POST /api/views/save", request));
  const id = over?.id || `own-${Date.now().toString(36)}`;
  const others = ownViews()
    .filter((view) => view.id !== id)
    .map((view) => (request.default && view.page === request.page ? { ...view, default: false } : view));
  keepOwn([...others, { ...request, id, changed: Date.now() / 1000 }]);
}

/** Saves a query alone, under its own words; whatever else the page shows stays as it is when it is opened. */
export async function saveQuery(q: string): Promise<void> {
  const request = {
    name: q.slice(0, 100),
    page: "/runs",
    query: { q },
    project: project.peek(),
    default: false,
    id: "",
  };
  if (shared.peek()) return take(await call("POST /api/views/save", request));
  keepOwn([...ownViews(), { ...request, id: `own-${Date.now().toString(36)}`, changed: Date.now() / 1000 }]);
}

export async function dropView(view: SavedView): Promise<void> {
  if (!isOwn(view)) return take(await call("POST /api/views/drop", { id: view.id }));
  keepOwn(ownViews().filter((other) => other.id !== view.id));
}

export function isOwn(view: SavedView | undefined): boolean {
  return view?.id.startsWith("own-") ?? false;
}

/** The view a page opens with when its address says nothing: of the project, else of all projects. */
export function defaultView(path: string): SavedView | null {
  const fits = views.peek().filter((view) => view.default && view.page === path);
  return fits.find((view) => view.project === project.peek()) ?? fits.find((view) => view.project === "") ?? null;
}

function ownViews(): SavedView[] {
  try {
    const parsed: unknown = JSON.parse(readStored("views") ?? "[]");
    return Array.isArray(parsed) ? parsed.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(one: unknown): one is SavedView {
  if (typeof one !== "object" || one === null) return false;
  const view = one as Record<string, unknown>;
  return ["id", "name", "page"].every((key) => typeof view[key] === "string") && typeof view.query === "object";
}

function keepOwn(own: SavedView[]): void {
  writeStored("views", JSON.stringify(own));
  views.value = [...views.peek().filter((view) => !isOwn(view)), ...own];
}
