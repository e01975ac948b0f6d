/** The address as signals. Back and forward work; small changes replace the current entry after a short rest. */

import { effect, signal, type Signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { type Codec, formatHash, matchPath, parseHash, type Place } from "./lib/url";

/** What each file in `views/` exports by default. Adding a page is adding a file. */
export interface PageDef {
  path: string;
  title: string;
  /** Shown as a tab in the top bar. */
  nav?: boolean;
  order: number;
  Page: ComponentType<{ params: Record<string, string> }>;
}

const REST_MS = 120;

export const place: Signal<Place> = signal(parseHash(location.hash));
let waiting: ReturnType<typeof setTimeout> | undefined;

function writeNow(push: boolean): void {
  clearTimeout(waiting);
  waiting = undefined;
  const hash = formatHash(place.peek());
  if (hash === location.hash) return;
  history[push ? "pushState" : "replaceState"](null, "", hash);
}

function readAddress(): void {
  clearTimeout(waiting);
  place.value = parseHash(location.hash);
}

addEventListener("popstate", readAddress);
addEventListener("hashchange", readAddress);
addEventListener("pagehide", () => waiting && writeNow(false));

/** Goes to another page, keeping the layout that the address holds; `query` sets or (with "") drops parts of it. */
export function go(path: string, query: Record<string, string> = {}): void {
  if (waiting) writeNow(false);
  place.value = { path, query: { ...place.peek().query, ...query } };
  writeNow(true);
}

/** Changes the layout and stays on the page, without a step for the back button. */
export function amend(query: Record<string, string>): void {
  const now = place.peek();
  place.value = { path: now.path, query: { ...now.query, ...query } };
  writeNow(false);
}

/** An `href` to another page that keeps the layout; `query` sets or (with "") drops parts of it. */
export function linkTo(path: string, query: Record<string, string> = {}): string {
  return formatHash({ path, query: { ...place.value.query, ...query } });
}

function setQuery(name: string, value: string, push: boolean): void {
  const now = place.peek();
  if ((now.query[name] ?? "") === value) return;
  if (push && waiting) writeNow(false);
  place.value = { path: now.path, query: { ...now.query, [name]: value } };
  if (push) return writeNow(true);
  clearTimeout(waiting);
  waiting = setTimeout(() => writeNow(false), REST_MS);
}

/**
 * A signal that lives in the address under `name`. The default is not written.
 * With `push`, each change is a step for the back button; without it the current entry is replaced.
 */
export function param<T>(name: string, fallback: T, codec: Codec<T>, push = false): Signal<T> {
  const plain = codec.write(fallback);
  const written = (value: T): string => {
    const text = codec.write(value);
    return text === plain ? "" : text === "" ? EMPTY : text;
  };
  const read = (text: string | undefined): T => {
    if (text === undefined || text === "") return fallback;
    return codec.read(text === EMPTY ? "" : text) ?? fallback;
  };
  const held = signal<T>(read(place.peek().query[name]));
  let inAddress = place.peek().query[name] ?? "";
  effect(() => {
    const text = place.value.query[name] ?? "";
    if (text === inAddress) return;
    inAddress = text;
    held.value = read(text);
  });
  effect(() => {
    const text = written(held.value);
    if (text === inAddress || (inAddress !== "" && text === written(read(inAddress)))) return;
    inAddress = text;
    setQuery(name, text, push);
  });
  return held;
}

/** An empty value where the default is not empty. */
const EMPTY = "~";

export function matchPage(
  pages: readonly PageDef[],
  path: string,
): { page: PageDef; params: Record<string, string> } | null {
  for (const page of pages) {
    const params = matchPath(page.path, path);
    if (params) return { page, params };
  }
  return null;
}
