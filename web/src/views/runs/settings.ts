/** What the Runs page shows, all of it in the address: query, order, columns, grouping. Widths stay in this browser. */

import { computed, signal } from "@preact/signals";
import { fitColumns } from "../../lib/fit-columns";
import type { RunColumn } from "../../lib/schema";
import { readStored, writeStored } from "../../lib/stored";
import { flag, list, text } from "../../lib/url";
import { param } from "../../router";

export const query = param<string>("q", "", text);
/** A column's key, with `-` before it for the largest first. */
export const sort = param<string>("sort", "-created", text, true);
/** The chosen columns; none means the usual ones. */
export const chosenColumns = param<string[]>("cols", [], list);
/** Columns that stay at the left, behind the name, while the others scroll. */
export const pinnedColumns = param<string[]>("pincols", [], list);
export const groupBy = param<string>("group", "", text, true);
/** Also runs that were archived. */
export const archived = param("archived", false, flag);
/** Groups that are folded, by their value. */
export const shutGroups = signal<ReadonlySet<string>>(new Set());

export const sortKey = computed(() => sort.value.replace(/^-/, ""));
export const descending = computed(() => sort.value.startsWith("-"));

/** What the server can show, and what it would show first. */
export const available = signal<readonly RunColumn[]>([]);
export const usual = signal<readonly string[]>([]);
/** The server has said which columns there are, or failed to: rows shown before would jump aside for them. */
export const columnsKnown = signal(false);

/** Columns that every row carries, so the server need not be asked for them. */
const OWN: readonly RunColumn[] = [
  { key: "status", label: "Status", source: "run", type: "text", distinct: 0 },
  { key: "alive", label: "Now", source: "run", type: "line", distinct: 0 },
  { key: "spark", label: "Trend", source: "run", type: "line", distinct: 0 },
  { key: "created", label: "Created", source: "run", type: "time", distinct: 0 },
  { key: "duration", label: "Duration", source: "run", type: "duration", distinct: 0 },
  { key: "tags", label: "Tags", source: "run", type: "tags", distinct: 0 },
  { key: "notes", label: "Notes", source: "run", type: "text", distinct: 0 },
  { key: "project", label: "Project", source: "run", type: "text", distinct: 0 },
];
const OWN_KEYS: ReadonlySet<string> = new Set(OWN.map((column) => column.key));

/** Everything the picker offers; the name is always there and so not offered. */
export const offered = computed<readonly RunColumn[]>(() => [
  ...OWN,
  ...available.value.filter((column) => column.key !== "name" && !OWN_KEYS.has(column.key)),
]);

const byKey = computed(() => new Map(offered.value.map((column) => [column.key, column])));

/** Pixels the table has from left to right; the page sets it. */
export const room = signal(1440);

/** What is to be shown: what the person chose, else the usual columns. */
const wantedKeys = computed<readonly string[]>(() => {
  if (chosenColumns.value.length > 0) return chosenColumns.value;
  const middle = usual.value.filter((key) => key !== "name" && !OWN_KEYS.has(key));
  return ["status", ...(someRun.value ? ["alive"] : []), "spark", ...middle, "created", "duration", "tags"];
});

/** Whether one of the rows goes on: how it does right now is worth a column then. */
export const someRun = signal(false);

/** Width by key of the name and of each column that is shown: of the usual ones only as many as fit. */
const fitted = computed<ReadonlyMap<string, number>>(() => {
  const usualOnes = chosenColumns.value.length === 0;
  const config = wantedKeys.value.filter((key) => key.startsWith("config."));
  const optional = new Set(usualOnes ? ["duration", ...config.slice(KEPT_CONFIG)] : []);
  const all = [{ key: "name", label: "Name", source: "run" }, ...wantedKeys.value.map(columnOf)];
  const found = fitColumns(
    all.map((column) => ({ key: column.key, ...sizeOf(column), optional: optional.has(column.key) })),
    room.value,
  );
  return widened(found, room.value);
});

const WIDEST = 1.6;

/** Room that is left on a wide screen goes to all columns, save those a person has sized. */
function widened(found: ReadonlyMap<string, number>, room: number): ReadonlyMap<string, number> {
  const sum = [...found.values()].reduce((a, b) => a + b, 0);
  const factor = Math.min(WIDEST, (room - 24) / sum);
  if (!(factor > 1)) return found;
  return new Map(
    [...found].map(([key, width]) => [key, widths.value[key] === undefined ? Math.floor(width * factor) : width]),
  );
}

export const shownKeys = computed<readonly string[]>(() => {
  const shown = wantedKeys.value.filter((key) => fitted.value.has(key));
  const pinned = pinnedColumns.value.filter((key) => shown.includes(key));
  return [...pinned, ...shown.filter((key) => !pinned.includes(key))];
});

export function togglePinned(key: string): void {
  const now = pinnedColumns.peek();
  pinnedColumns.value = now.includes(key) ? now.filter((other) => other !== key) : [...now, key];
}

/** How far from the left each pinned column stands; of others nothing. */
const pinnedPlaces = computed<ReadonlyMap<string, number>>(() => {
  let left = fitted.value.get("name") ?? 0;
  const places = new Map<string, number>();
  for (const key of pinnedColumns.value.filter((one) => fitted.value.has(one))) {
    places.set(key, left);
    left += fitted.value.get(key) ?? 0;
  }
  return places;
});

export const pinnedLeft = (key: string): number | undefined => pinnedPlaces.value.get(key);

export const shownColumns = computed<readonly RunColumn[]>(() => shownKeys.value.map(columnOf));

/**
 * A column by its key; one that the server does not know now is still shown, empty, because the address asks for it.
 */
export function columnOf(key: string): RunColumn {
  return byKey.value.get(key) ?? { key, label: key, source: "metric", type: "number", distinct: 0 };
}

export const askedColumns = computed<string[]>(() => shownKeys.value.filter((key) => !OWN_KEYS.has(key)));

export function isOwn(key: string): boolean {
  return OWN_KEYS.has(key);
}

export function setColumns(keys: readonly string[]): void {
  chosenColumns.value = [...keys];
}

export function moveColumn(key: string, before: string | null): void {
  if (key === before) return;
  const rest = shownKeys.peek().filter((other) => other !== key);
  const at = before === null ? rest.length : rest.indexOf(before);
  setColumns([...rest.slice(0, at), key, ...rest.slice(at)]);
}

/** Up, then down, then back to the newest first. */
export function nextSort(key: string): void {
  const first = FIRST_DOWN.has(columnOf(key).type) ? `-${key}` : key;
  const second = first.startsWith("-") ? key : `-${key}`;
  sort.value = sort.peek() === first ? second : sort.peek() === second ? "-created" : first;
}

const FIRST_DOWN: ReadonlySet<string> = new Set(["time", "duration"]);

const KEPT_CONFIG = 2;

/** Wanted and least widths, in pixels. */
const WIDTHS: Record<string, readonly [number, number]> = {
  name: [260, 190],
  status: [96, 92],
  alive: [176, 150],
  spark: [112, 108],
  created: [92, 84],
  duration: [84, 76],
  tags: [180, 132],
  notes: [220, 120],
  project: [110, 80],
};
const LETTER_PX = 6.6;

/** `0.0001163`: a number that is cut would be read as another one. */
const NUMBER_PX = 88;

/** `0.8504 ± 0.0022` of a group. */
const MEAN_PX = 128;

function sizeOf(column: { key: string; label: string; source?: string }): { want: number; least: number } {
  const own = widths.value[column.key];
  if (own !== undefined) return { want: own, least: own };
  const letters = Math.min(26, column.label.length) * LETTER_PX;
  const mean = groupBy.value !== "" && column.source === "metric" ? MEAN_PX : 0;
  const [want, least] = WIDTHS[column.key] ?? [
    Math.max(NUMBER_PX, 36 + letters, mean),
    Math.max(NUMBER_PX, 22 + letters, mean),
  ];
  return { want, least };
}

const storedWidths = readWidths();
export const widths = signal<Readonly<Record<string, number>>>(storedWidths);

function readWidths(): Record<string, number> {
  try {
    const parsed: unknown = JSON.parse(readStored("runs.widths") ?? "{}");
    if (typeof parsed !== "object" || parsed === null) return {};
    return Object.fromEntries(Object.entries(parsed).filter(([, width]) => typeof width === "number"));
  } catch {
    return {};
  }
}

export function widthOf(column: { key: string; label: string; source?: string }): number {
  return fitted.value.get(column.key) ?? sizeOf(column).want;
}

export function setWidth(key: string, width: number | null): void {
  const next = { ...widths.peek() };
  if (width === null) delete next[key];
  else next[key] = Math.round(Math.min(800, Math.max(56, width)));
  widths.value = next;
  writeStored("runs.widths", JSON.stringify(next));
}
