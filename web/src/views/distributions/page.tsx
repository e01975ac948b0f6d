/** The Distributions page: the chosen runs, or the newest. docs/distributions.md is its manual. */

import { useSignalEffect } from "@preact/signals";
import { describeKeys } from "../../components/help";
import { useKeys } from "../../keys";
import { chartRuns, newest, project, selected } from "../../state";
import { loadNewest } from "../charts/model";
import { EmptyStore } from "../runs/empty";
import { DistributionBoard } from "./board";

describeKeys("Distributions", {
  "/": "find layers",
  "← →": "the step before or after, where one is shown large",
  Esc: "close the large histogram",
});

export function DistributionsPage() {
  useSignalEffect(() => {
    if (selected.value.length === 0) void (project.value, loadNewest());
  });
  useKeys({ "/": () => document.querySelector<HTMLInputElement>(".dist-find input")?.focus() });
  if (selected.value.length === 0 && newest.value?.length === 0) return <EmptyStore />;
  if (chartRuns.value.length === 0) return null;
  return <DistributionBoard runs={chartRuns.value} />;
}
