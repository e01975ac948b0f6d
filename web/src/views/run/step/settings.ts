/** What is looked at in a recorded step, in the address. */

import { computed } from "@preact/signals";
import { flag, oneOf, text } from "../../../lib/url";
import { param } from "../../../router";

/** `step:key` of the recording, as on the Model page; "" for the newest. */
export const recording = param<string>("recording", "", text, true);
export type StepView = "ops" | "costs" | "compare";
export const view = param<StepView>("stepview", "ops", oneOf("ops", "costs", "compare"));
export const search = param<string>("opfind", "", text);
export const module = param<string>("opmodule", "", text);
export const phase = param<string>("opphase", "", text);
export const kind = param<string>("opkind", "", text);
export const bad = param<boolean>("opbad", false, flag);
export type SortBy = "order" | "name" | "module" | "time_us" | "flops" | "saved_bytes";
export const sort = param<SortBy>(
  "opsort",
  "order",
  oneOf("order", "name", "module", "time_us", "flops", "saved_bytes"),
);
export const descending = param<boolean>("opdown", false, flag);
/** The op that is looked at; "" for none. */
export const op = param<string>("op", "", text);
export type CostsBy = "module" | "line" | "type" | "phase";
export const costsBy = param<CostsBy>("costs", "module", oneOf("module", "line", "type", "phase"));
export type ComparePart = "" | "forward" | "backward" | "optimizer";
export const comparePart = param<ComparePart>("steppart", "forward", oneOf("", "forward", "backward", "optimizer"));
/** The recording that is compared with. */
export const before = param<string>("beforestep", "", text);

export const filters = computed(() => ({
  search: search.value,
  module: module.value,
  phase: phase.value,
  kind: kind.value,
  bad: bad.value,
  sort: sort.value,
  descending: descending.value,
}));
export type OpFilters = typeof filters.value;

export const isFiltered = computed(() =>
  Boolean(search.value || module.value || phase.value || kind.value || bad.value),
);

let shown = "";

/** An op of one run means nothing in another. */
export function arriveAt(run: string): void {
  if (shown !== "" && shown !== run) recording.value = op.value = before.value = module.value = kind.value = "";
  shown = run;
}

export function clearFilters(): void {
  search.value = module.value = phase.value = kind.value = "";
  bad.value = false;
}

/** Shows one op among all others. */
export function showOp(index: number): void {
  view.value = "ops";
  op.value = String(index);
}
