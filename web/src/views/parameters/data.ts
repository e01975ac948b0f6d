/** The Parameters page's state, all of it in the address, and what the server says about it. */

import { batch, computed, effect, signal } from "@preact/signals";
import { ApiError, call, isAbort } from "../../lib/api";
import { type Brushes, isBrushes } from "../../lib/param-brush";
import { metricOfKey, type ParamTable, readTable } from "../../lib/param-table";
import { onLive } from "../../lib/live";
import { caretColumn, inProject } from "../../lib/query";
import type { Importance, ParametersRequest } from "../../lib/schema";
import { Asker } from "../../lib/asker";
import { flag, json, list, oneOf, text } from "../../lib/url";
import { param } from "../../router";
import { project, selected } from "../../state";
import { queryError } from "../runs/data";
import { available, query } from "../runs/settings";
import { ParamScope } from "./scope";

export const VIEWS = ["parallel", "scatter", "importance", "best", "table"] as const;
export type View = (typeof VIEWS)[number];
export type Stat = "best" | "last" | "min" | "max" | "mean";

export const view = param<View>("pview", "parallel", oneOf<View>(...VIEWS), true);
export const metric = param<string>("metric", "", text, true);
export const stat = param<Stat>("stat", "best", oneOf<Stat>("best", "last", "min", "max", "mean"), true);
export const goal = param<"" | "min" | "max">("goal", "", oneOf<"" | "min" | "max">("", "min", "max"), true);
/** All runs that match, or the chosen ones. */
export const whose = param<"all" | "chosen">("pruns", "all", oneOf<"all" | "chosen">("all", "chosen"), true);
/** Also runs that failed, were stopped or still run. */
export const unfinished = param<boolean>("unfinished", false, flag, true);
const brushes = param<Brushes>("brush", {}, json(isBrushes), true);
const axes = param<string[]>("axes", [], list, true);
const flipped = param<string[]>("flip", [], list, true);

export const table = signal<ParamTable | null>(null);
export const fault = signal<unknown>(null);
export const loading = signal(false);

const EMPTY: ParamTable = {
  size: 0,
  ids: [],
  names: [],
  statuses: [],
  created: [],
  ended: [],
  hues: [],
  columns: [],
  byKey: new Map(),
  metric: null,
  metricName: null,
  stat: "last",
  goal: null,
  metrics: [],
  alike: 0,
  unique: [],
  omitted: 0,
  unfinished: 0,
  version: 0,
}; // prettier-ignore

export const scope = new ParamScope(
  computed(() => table.value ?? EMPTY),
  { brushes, axes, flipped },
);

/** What is asked for now. */
function request(): ParametersRequest & { query: string } {
  return {
    query: inProject(project.value, query.value).query,
    runs: whose.value === "chosen" ? selected.value : [],
    metric: metric.value,
    stat: stat.value,
    unfinished: unfinished.value,
    goal: goal.value === "" ? null : goal.value,
    metrics: axes.value.map(metricOfKey).filter((name) => name !== null),
  };
}

const asker = new Asker();

function load(asked: ReturnType<typeof request>): Promise<void> {
  loading.value = true;
  return asker.ask(JSON.stringify(asked), (stop) => loadTable(asked, stop));
}

async function loadTable(asked: ReturnType<typeof request>, stop: AbortSignal): Promise<void> {
  try {
    const found = readTable(await call("POST /api/parameters", asked, { signal: stop }));
    batch(() => {
      table.value = found;
      fault.value = null;
      queryError.value = null;
    });
  } catch (error) {
    if (!isAbort(error)) refuse(error);
  } finally {
    if (!stop.aborted) loading.value = false;
  }
}

/** A wrong query is marked in its box, and what was found before stays. */
function refuse(error: unknown): void {
  const typed = query.peek();
  if (error instanceof ApiError && error.status === 400 && typed !== "" && table.peek()) {
    const { prefix } = inProject(project.peek(), typed);
    queryError.value = {
      message: error.message,
      hint: error.hint,
      column: error.position === null ? null : caretColumn(typed, error.position, prefix),
    };
    return;
  }
  fault.value = error;
}

export function retry(): void {
  fault.value = null;
  void load(request());
}

const REST_MS = 3000;

/** Asks while the page is shown; returns how to stop. */
export function watchParameters(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stops = [
    effect(() => void load(request())),
    effect(() => void readColumns(project.value)),
    onLive((event) => {
      if (timer || (event.changed.length === 0 && event.gone.length === 0) || event.version === table.peek()?.version)
        return;
      timer = setTimeout(() => ((timer = undefined), void load(request())), REST_MS);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    clearTimeout(timer);
    asker.stop();
    loading.value = false;
  };
}

/** What the query box completes. */
async function readColumns(name: string): Promise<void> {
  if (available.peek().length > 0) return;
  try {
    available.value = (await call("POST /api/columns", { query: inProject(name, "").query })).columns;
  } catch {
    // The table's own request says what is wrong; without columns the box completes nothing.
  }
}

/** The importance of the same runs for the same metric. */
export function askImportance(stop: AbortSignal): Promise<Importance> {
  return call("POST /api/importance", { ...request(), metrics: [] }, { signal: stop });
}

/** What importance is asked of, apart from what the runs logged meanwhile. */
export function question(): string {
  return JSON.stringify({ ...request(), metrics: [] });
}
