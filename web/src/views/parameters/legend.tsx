/** What the colours mean. */

import { formatNumber, visibleText } from "../../lib/format";
import { shadeEnds } from "../../lib/param-table";
import type { ParamScope } from "./scope";

export function Legend({ scope }: { scope: ParamScope }) {
  const { metric, goal } = scope.table.value;
  const ends = shadeEnds(metric, goal);
  if (!metric || !ends) return null;
  const [worst, middle, best] = ends;
  return (
    <p
      class="hstack gap-2 rigid soft small params-legend"
      title="Colored by rank: each color covers equally many runs, so outliers do not hide the rest"
    >
      <span class="isolate ellipsis">{visibleText(metric.label)}</span>
      <span>{formatNumber(worst, 3)}</span>
      <span
        class="params-ramp"
        style={{ background: `linear-gradient(90deg, ${scope.ramp.value.filter((_, at) => at % 7 === 0).join(", ")})` }}
      >
        <span class="params-middle">median {formatNumber(middle, 3)}</span>
      </span>
      <span>{formatNumber(best, 3)}</span>
      <span class="quiet">{goal === null ? "" : goal === "min" ? "lower is better" : "higher is better"}</span>
    </p>
  );
}
