/**
 * The rows of the Runs page: fetched by windows, kept by id, renewed in place when the server says that runs changed.
 */

import { batch, computed, effect, signal } from "@preact/signals";
import { ApiError, call, isAbort } from "../../lib/api";
import { Asker } from "../../lib/asker";
import { liveState, onLive, onReturn } from "../../lib/live";
import { caretColumn, inProject } from "../../lib/query";
import { layoutOf, missingPages, type Span } from "../../lib/rows";
import type { Cell, Edited, EditRequest, GroupMean, RunGroup, RunRow, RunsPage } from "../../lib/schema";
import { meet, project, remember, selected } from "../../state";
import {
  archived,
  askedColumns,
  available,
  columnsKnown,
  descending,
  groupBy,
  query,
  shutGroups,
  someRun,
  sortKey,
  usual,
} from "./settings";
import { rememberQuery } from "./recent-queries";

const PAGE = 200;
/** More than can be chosen: what "choose all" needs comes with the first page. */
const FIRST_IDS = 1000;
const GROUPED_IDS = 10_000;
const RENEW_MS = 1000;
const SCROLL_REST_MS = 60;

export interface KeptRow {
  row: RunRow;
  /** Cells by column key. */
  cells: ReadonlyMap<string, Cell>;
  /** When it was fetched, in unix seconds: a running run's duration goes on from there. */
  at: number;
}

export interface Table {
  /** Ids by position; undefined where they are not known yet. */
  order: (string | undefined)[];
  matched: number;
  /** Whether `matched` was counted: a server with very many runs estimates what would take long to count. */
  exact: boolean;
  total: number;
  /** Found and not read yet, when many are opened for the first time. */
  unread: number;
  groups: RunGroup[] | null;
  /** The columns that were asked for: a group's means stand in their order. */
  columns: readonly string[];
  version: number;
  /** The best value of a column among all runs that match, where it is known which way is good. */
  best: ReadonlyMap<string, number>;
}

export const table = signal<Table | null>(null);
export const rows = signal<ReadonlyMap<string, KeptRow>>(new Map());
/** A request for another query or order is under way; what is shown is the answer to the one before. */
export const waiting = signal(false);
/** Why the last request gave nothing new. */
export const failure = signal<unknown>(null);
/** What is wrong with the query, and at which letter. */
export const queryError = signal<{ message: string; hint: string | null; column: number | null } | null>(null);

export const layout = computed(() => layoutOf(table.value?.order ?? [], table.value?.groups ?? null, shutGroups.value));

const span = signal<Span>({ start: 0, end: 0 });
const asker = new Asker();
let following: AbortController | null = null;
let asked = "";

interface Question {
  query: string;
  prefix: number;
  typed: string;
  sort: string;
  descending: boolean;
  columns: string[];
  group_by: string | null;
  archived: boolean;
}

function question(): Question {
  const typed = query.value;
  return {
    ...inProject(project.value, typed),
    typed,
    sort: sortKey.value,
    descending: descending.value,
    columns: askedColumns.value,
    group_by: groupBy.value || null,
    archived: archived.value,
  };
}

function fetchPage(now: Question, offset: number, signal: AbortSignal, ids = 0): Promise<RunsPage> {
  const { prefix: _prefix, typed: _typed, ...request } = now;
  // Groups draw runs by id wherever they stand, so they need to know where each is.
  return call("POST /api/runs", { ...request, offset, limit: PAGE, ids: now.group_by ? GROUPED_IDS : ids }, { signal });
}

/** The ids of a part of the list, also of rows that nobody has scrolled to; at most a thousand. */
export async function idsBetween(from: number, to: number): Promise<string[]> {
  const { prefix: _prefix, typed: _typed, ...request } = answered ?? question();
  const limit = Math.min(to - from + 1, FIRST_IDS);
  const page = await call("POST /api/runs", { ...request, columns: [], offset: from, limit });
  return page.rows.map((row) => row.id);
}

/** Asks anew, from the top or, with `keep`, for what is on the screen. */
function renew(now: Question, keep: boolean): Promise<void> {
  if (!keep) {
    following?.abort(); // rows of the question before, which would come between
    waiting.value = true;
  }
  return asker.ask(JSON.stringify(now), (stop) => fetchRows(now, keep, stop));
}

async function fetchRows(now: Question, keep: boolean, stop: AbortSignal): Promise<void> {
  const offset = keep ? firstVisible() : 0; // what is on the screen may be another part when the answer comes
  try {
    const page = await fetchPage(now, offset, stop, FIRST_IDS);
    batch(() => {
      takePage(now, page, offset, true, keep);
      failure.value = null;
      if (now.typed === query.peek()) queryError.value = null;
    });
  } catch (fault) {
    if (!isAbort(fault)) refuse(now, fault);
  } finally {
    if (!stop.aborted) waiting.value = false;
  }
}

function refuse(now: Question, fault: unknown): void {
  if (fault instanceof ApiError && fault.status === 400 && now.typed !== "") {
    const column = fault.position === null ? null : caretColumn(now.typed, fault.position, now.prefix);
    queryError.value = { message: fault.message, hint: fault.hint, column };
    void showWithoutQuery(now);
    return;
  }
  failure.value = fault;
}

/**
 * A wrong query empties nothing: the runs of the last good one stay, or all of them, in the columns and order of now.
 */
async function showWithoutQuery(now: Question): Promise<void> {
  const typed = answered?.typed ?? "";
  const good: Question = { ...now, ...inProject(project.peek(), typed), typed };
  if (table.peek() !== null && JSON.stringify(good) === JSON.stringify(answered)) return;
  // What else the address asks for may be wrong too.
  const bare: Question = {
    ...good,
    ...inProject(project.peek(), ""),
    typed: "",
    columns: [],
    group_by: null,
    sort: "created",
  };
  for (const tried of [good, bare]) {
    try {
      const page = await fetchPage(tried, 0, new AbortController().signal, FIRST_IDS);
      if (queryError.peek() && now.typed === query.peek()) takePage(tried, page, 0, true, false);
      return;
    } catch (fault) {
      if (table.peek() !== null) return;
      if (tried === bare) failure.value = fault;
    }
  }
}

/** What the runs of a group reach together in a column; null where it is no metric. */
export function meanIn(group: RunGroup, key: string): GroupMean | null {
  return group.means[table.value?.columns.indexOf(key) ?? -1] ?? null;
}

function firstVisible(): number {
  const item = layout.peek().at(span.peek().start);
  return item?.kind === "run" && item.position > 0 ? Math.floor(item.position / PAGE) * PAGE : 0;
}

/** The question that the rows on the screen answer: more of them are asked for by it, whatever is being typed. */
let answered: Question | null = null;

function takePage(now: Question, page: RunsPage, offset: number, whole: boolean, keep: boolean): void {
  answered = now;
  const at = Date.now() / 1000;
  const before = keep || !whole ? rows.peek() : new Map<string, KeptRow>();
  const next = new Map(before);
  let changed = next.size !== rows.peek().size;
  for (const row of page.rows) {
    const known = before.get(row.id);
    if (known && sameRow(known.row, row) && known.cells.size === now.columns.length) continue;
    next.set(row.id, { row, cells: new Map(now.columns.map((key, index) => [key, row.cells[index] ?? null])), at });
    changed = true;
  }
  const last = table.peek();
  const estimated = !page.exact || last?.exact === false;
  const same = !whole && last !== null && last.version === page.version && (estimated || last.matched === page.matched);
  const order: (string | undefined)[] =
    page.ids.length === 0 && same ? [...last.order] : page.ids.slice(0, page.matched);
  order.length = page.matched;
  for (const [index, row] of page.rows.entries()) order[offset + index] = row.id;
  if (changed) rows.value = next;
  const best = new Map(
    now.columns.flatMap((key, at) => (page.best[at] == null ? [] : [[key, page.best[at]] as const])),
  );
  table.value = {
    order,
    matched: page.matched,
    exact: page.exact,
    total: page.total,
    unread: page.unread,
    groups: page.groups,
    columns: now.columns,
    version: page.version,
    best,
  };
  remember(page.rows);
  if (page.rows.some((row) => row.status === "running") !== someRun.peek() && offset === 0)
    someRun.value = !someRun.peek();
  if (whole && now.typed !== "") rememberQuery(now.typed);
}

function sameRow(a: RunRow, b: RunRow): boolean {
  return (
    a.version === b.version &&
    a.status === b.status &&
    a.status !== "running" &&
    a.findings === b.findings &&
    a.cells.length === b.cells.length &&
    a.cells.every((cell, at) => cell === b.cells[at])
  );
}

/** The table says which rows it draws; those that are missing are fetched after a short rest. */
export function showSpan(next: Span): void {
  if (next.start !== span.peek().start || next.end !== span.peek().end) span.value = next;
}

async function fillSpan(): Promise<void> {
  const now = queryError.peek() && answered ? answered : question();
  const { start, end } = span.peek();
  const drawn = layout.peek();
  const positions: number[] = [];
  for (let index = start; index < end; index++) {
    const item = drawn.at(index);
    if (item?.kind === "run") positions.push(item.position);
  }
  const order = table.peek()?.order ?? [];
  const pages = missingPages(positions, (position) => rows.peek().has(order[position] ?? ""), PAGE);
  if (pages.length === 0) return;
  following?.abort();
  const control = (following = new AbortController());
  try {
    for (const page of pages) {
      const found = await fetchPage(now, page * PAGE, control.signal);
      batch(() => takePage(now, found, page * PAGE, false, true));
    }
  } catch (fault) {
    if (!isAbort(fault)) failure.value = fault;
  }
}

export function retry(): void {
  failure.value = null;
  void readColumns();
  void renew(question(), false);
}

async function readColumns(): Promise<void> {
  const of = project.peek();
  try {
    const found = await call("POST /api/columns", { query: inProject(of, "").query });
    if (of !== project.peek()) return; // another project was chosen meanwhile, and is asked about
    batch(() => {
      available.value = found.columns;
      usual.value = found.default;
    });
  } catch {
    // The rows' own request shows what is wrong; the columns come with the next try.
  } finally {
    columnsKnown.value = true;
  }
}

/** Starts fetching; returns how to stop. Called while the page is shown. */
export function watchRuns(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let scrolling: ReturnType<typeof setTimeout> | undefined;
  let columnsAt = 0;
  let known = 0;
  let renewed = 0;
  const stops = [
    effect(() => {
      project.value;
      columnsAt = Date.now();
      void readColumns();
    }),
    effect(() => {
      const now = question();
      const text = JSON.stringify(now);
      const again = text === asked && table.peek() !== null;
      asked = text;
      void renew(now, again);
    }),
    effect(() => {
      // Chosen runs may be far down the list: without them it is not known which colours are taken.
      meet(selected.value).catch(() => undefined);
    }),
    effect(() => {
      span.value;
      layout.value;
      clearTimeout(scrolling);
      scrolling = setTimeout(() => void fillSpan(), SCROLL_REST_MS);
    }),
    effect(() => {
      if (liveState.value.kind === "live" && failure.peek()) retry();
    }),
    // A server that was started anew counts its versions anew, and a run may have been killed with it.
    onReturn(() => void renew(question(), true)),
    onLive((event) => {
      if (event.version === known && event.changed.length === 0 && event.gone.length === 0) return;
      known = event.version;
      if (timer) return;
      // At once after a quiet while, and at most once a second while runs are busy.
      timer = setTimeout(
        () => {
          timer = undefined;
          renewed = Date.now();
          if (Date.now() - columnsAt > 15_000 || available.peek().length === 0) {
            columnsAt = Date.now();
            void readColumns();
          }
          void renew(queryError.peek() && answered ? answered : question(), true);
        },
        Math.max(0, renewed + RENEW_MS - Date.now()),
      );
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    clearTimeout(timer);
    clearTimeout(scrolling);
  };
}

/** Changes tags, notes or the name, shows it at once, and puts it back if the server refuses. */
export async function editRuns(change: EditRequest): Promise<Edited> {
  const before = rows.peek();
  const next = new Map(before);
  for (const id of change.runs) {
    const kept = next.get(id);
    if (kept) next.set(id, { ...kept, row: withChange(kept.row, change) });
  }
  rows.value = next;
  try {
    const done = await call("POST /api/runs/edit", change);
    if (done.refused.length > 0) rows.value = before;
    void renew(question(), true);
    return done;
  } catch (fault) {
    rows.value = before;
    throw fault;
  }
}

function withChange(row: RunRow, change: EditRequest): RunRow {
  const gone = new Set(change.remove_tags ?? []);
  const tags = [...new Set([...row.tags, ...(change.add_tags ?? [])])].filter((tag) => !gone.has(tag));
  return { ...row, tags, notes: change.notes ?? row.notes, name: change.name ?? row.name };
}
