/** What the colours mean. */

import { formatNumber, visibleText } from "../../lib/format";
import type { ParamScope } from "./scope";

export function Legend({ scope }: { scope: ParamScope }) {
  const { metric, goal } = scope.table.value;
  if (!metric || Number.isNaN(metric.low)) return null;
  const [from, to] = goal === "min" ? [metric.high, metric.low] : [metric.low, metric.high];
  return (
    <p class="params-legend">
      <span class="isolate ellipsis">{visibleText(metric.label)}</span>
      <span>{formatNumber(from, 3)}</span>
      <span class="params-ramp" style={{ background: `linear-gradient(90deg, ${scope.ramp.value.filter((_, at) => at % 7 === 0).join(", ")})` }} aria-hidden="true" />
      <span>{formatNumber(to, 3)}</span>
      <span class="quiet">{goal === null ? "" : goal === "min" ? "less is better" : "more is better"}</span>
    </p>
  );
}
