/** What the Distributions board shows, all of it in the address: how histograms are drawn, which layers, which step. */

import type { HistogramMode } from "../../charts/draw-histograms";
import { ORDERS, type LayerOrder, type SharedRange } from "../../lib/distributions";
import { flag, list, number, oneOf, text } from "../../lib/url";
import { param } from "../../router";

export const mode = param<HistogramMode>("dmode", "ridges", oneOf<HistogramMode>("ridges", "heat", "bands"), true);
export const order = param<LayerOrder>("dorder", "wrong", oneOf<LayerOrder>(...ORDERS), true);
export const range = param<SharedRange>("drange", "own", oneOf<SharedRange>("own", "column", "row"), true);
export const logCounts = param<boolean>("dlog", false, flag, true);
export const search = param<string>("dq", "", text);
/** With several runs: families side by side for one of them, or the runs for one family. */
export const across = param<"families" | "runs">(
  "dacross",
  "families",
  oneOf<"families" | "runs">("families", "runs"),
  true,
);
export const family = param<string>("dfamily", "", text, true);
export const oneRun = param<string>("drun", "", text, true);
/** The step that all panels mark; -1 for none. */
export const step = param<number>("dstep", -1, number);
/** The run and the key whose histogram is shown large. */
export const opened = param<string[]>("dopen", [], list, true);

export const linkedStep = (): number | null => (step.value < 0 ? null : step.value);

export const MODES: readonly { value: HistogramMode; label: string }[] = [
  { value: "ridges", label: "Ridges" },
  { value: "heat", label: "Heat map" },
  { value: "bands", label: "Percentiles" },
];
