/** Which recordings there are, and the one on the page. */

import { computed, signal } from "@preact/signals";
import { GraphState } from "../../graph/state";
import { makeLayouts } from "../../graph/layouts";
import { measureText } from "../../graph/text-size";
import { call, isAbort } from "../../lib/api";
import { type ColourBy, COLOURS } from "../../lib/graph-measure";
import type { ModelPage, RecordedStep } from "../../lib/schema";
import { flag, oneOf, text } from "../../lib/url";
import { param } from "../../router";
import { project, remember, selected } from "../../state";
import { recordingId } from "./recording";

export { recordingId };

/** The run on the page; "" for the newest one (of the chosen runs, if any are chosen) that has a recording. */
export const run = param<string>("of", "", text, true);
/** `step:key` of the recording; "" for the newest. */
export const recording = param<string>("recording", "", text, true);
export const backward = param<boolean>("backward", false, flag);
export const optimizer = param<boolean>("optimizer", false, flag);
export const colourBy = param<ColourBy>("colour", "time", oneOf(...COLOURS.map(({ value }) => value)));
/** The op that a link points at, by its number in the step; "" for none. */
export const op = param<string>("op", "", text);
export type Layout = "both" | "graph" | "table";
export const layout = param<Layout>("show", "both", oneOf("both", "graph", "table"));

/** Runs that may have a recording, the newest first. */
export const runs = signal<readonly string[] | null>(null);
export const steps = signal<{ run: string; steps: readonly RecordedStep[] } | null>(null);
export const page = signal<ModelPage | null>(null);
export const graph = signal<GraphState | null>(null);
export const fault = signal<unknown>(null);
export const loading = signal(false);

/** How many runs are asked for recordings until one has any. */
const LOOKED_AT = 30;

export const chosen = computed<RecordedStep | null>(() => {
  const all = steps.value?.steps ?? [];
  return all.find((one) => recordingId(one) === recording.value) ?? all[all.length - 1] ?? null;
});

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

/** The chosen runs, or the newest of the project. */
export async function loadRuns(): Promise<void> {
  const of = project.peek();
  const query = of ? `project = ${quoted(of)}` : "";
  await guarded(async () => {
    const found = await call("POST /api/runs", { query, sort: "created", descending: true, limit: LOOKED_AT });
    if (of !== project.peek()) return; // another project was chosen meanwhile, and is asked about
    remember(found.rows);
    const newest = found.rows.map((row) => row.id);
    const wanted = selected.peek().length > 0 ? [...selected.peek()] : newest;
    runs.value = run.peek() && !wanted.includes(run.peek()) ? [run.peek(), ...wanted] : wanted;
  });
  if (fault.peek() === null) await loadSteps(); // outside: its own fault would be taken for a success here
}

/** One run alone, without a choice of others. */
export async function loadOnly(id: string): Promise<void> {
  runs.value = [id];
  await loadSteps();
}

/** The recordings of the run in the address, or of the first run that has some. */
export async function loadSteps(): Promise<void> {
  await guarded(async () => {
    const asked = run.peek();
    const among = runs.peek();
    if (!asked && among === null) return; // news came before it was known which runs there are
    for (const id of asked ? [asked] : (among ?? []).slice(0, LOOKED_AT)) {
      const answer = await call("POST /api/steps", { run: id });
      if (run.peek() !== asked || runs.peek() !== among) return; // another run, or others to look at
      if (answer.steps.length > 0 || asked) return keepSteps({ run: id, steps: answer.steps });
    }
    keepSteps({ run: "", steps: [] });
  });
}

/** The same recordings again are no news: the graph stays as it is, with what is open and chosen in it. */
function keepSteps(found: { run: string; steps: readonly RecordedStep[] }): void {
  if (JSON.stringify(found) !== JSON.stringify(steps.peek())) steps.value = found;
}

let stop: AbortController | null = null;

/** The recording that is chosen, with the phases that are wanted. */
export async function loadModel(): Promise<void> {
  const found = steps.value;
  const one = chosen.value;
  const phases = { backward: backward.value, optimizer: optimizer.value };
  stop?.abort();
  if (!found || !one) return show(null);
  stop = new AbortController();
  const { signal: aborted } = stop;
  loading.value = true;
  await guarded(async () => {
    show(
      await call("POST /api/model", { run: found.run, key: one.key, step: one.step, ...phases }, { signal: aborted }),
    );
  });
  if (!aborted.aborted) loading.value = false;
}

function show(answer: ModelPage | null): void {
  graph.peek()?.close();
  page.value = answer;
  const made = answer ? new GraphState(answer.graph, startLayouts(), measureText(), colourBy) : null;
  graph.value = made;
  const wanted = op.peek() === "" ? -1 : (made?.model.nodes.findIndex((node) => String(node.op) === op.peek()) ?? -1);
  if (made && wanted >= 0) made.goTo(made.model.boxes.length + wanted);
}

function startLayouts() {
  return makeLayouts(
    () => new Worker(new URL("../../graph/app-worker.ts", import.meta.url), { type: "module" }),
    async () => (await import("../../lib/graph-layout")).placePlan,
  );
}

/** Frees the worker and forgets the page. */
export function leave(): void {
  stop?.abort();
  show(null);
  steps.value = null;
  runs.value = null;
}

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
    fault.value = null;
  } catch (error) {
    if (!isAbort(error)) fault.value = error;
  }
}
