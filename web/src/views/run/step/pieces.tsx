/** Small things that the table, the details and the comparison share. */

import { visibleText } from "../../../lib/format";
import type { OpTensor, TensorStats } from "../../../lib/schema";
import { badText, meanText, rangeText, statsTitle, tensorLabel } from "../../../lib/stat-words";

/** A number over a bar that shows its share of the largest. */
export function Amount({
  value,
  largest,
  text,
}: {
  value: number | null | undefined;
  largest: number;
  text(value: number): string;
}) {
  if (value === null || value === undefined) return <span class="amount small quiet" role="gridcell" />;
  return (
    <span class="amount small" role="gridcell" title={value.toLocaleString("en-US")}>
      <span class="amount-bar" style={{ transform: `scaleX(${largest > 0 ? value / largest : 0})` }} />
      <span class={value === 0 ? "quiet" : undefined}>{value === 0 ? "–" : text(value)}</span>
    </span>
  );
}

export function Values({ stats }: { stats: TensorStats | null | undefined }) {
  const odd = badText(stats);
  return (
    <span class="step-values mono ellipsis" title={statsTitle(stats)}>
      {odd ? <span class="medium bad">{odd}</span> : null}
      {odd && meanText(stats) ? " · " : ""}
      {meanText(stats)}
    </span>
  );
}

/** Outside of any module, the part of the step says where an op stands. */
export function ModuleName({ path, phase = "–" }: { path: string | null | undefined; phase?: string }) {
  if (path === null || path === undefined) return <span class="quiet">{phase}</span>;
  return <span class="isolate">{visibleText(path) || "(model)"}</span>;
}

/** Tensors with what they held, one under the other. */
export function Tensors({
  title,
  tensors,
  onOp,
}: {
  title: string;
  tensors: readonly OpTensor[];
  onOp(index: number): void;
}) {
  if (tensors.length === 0) return null;
  return (
    <section class="step-tensors" aria-label={title}>
      <h3>{title}</h3>
      {tensors.map((tensor, at) => (
        <div key={at} class="step-tensor" data-bad={badText(tensor.stats) ? true : undefined}>
          <p>
            <span class="mono">{tensorLabel(tensor)}</span>
            {tensor.name ? (
              <span class="shrinks medium isolate ellipsis" title={visibleText(tensor.name)}>
                {visibleText(tensor.name)}
              </span>
            ) : (
              <span class="quiet">{tensor.kind === "intermediate" ? "" : tensor.kind}</span>
            )}
            <span class="spring" />
            <span class="quiet">{tensor.device}</span>
          </p>
          {tensor.stats ? (
            <p class="wraps soft mono step-tensor-stats">
              {badText(tensor.stats) ? <span class="medium bad">{badText(tensor.stats)}</span> : null}
              {meanText(tensor.stats) ? <span title="mean ± standard deviation">{meanText(tensor.stats)}</span> : null}
              {rangeText(tensor.stats) ? (
                <span class="quiet" title="least … greatest">
                  {rangeText(tensor.stats)}
                </span>
              ) : null}
            </p>
          ) : null}
          {tensor.made_by !== null && tensor.made_by !== undefined ? (
            <button type="button" class="link" onClick={() => onOp(tensor.made_by as number)}>
              from {tensor.made_by} {visibleText(tensor.made_by_name ?? "")}
            </button>
          ) : null}
        </div>
      ))}
    </section>
  );
}
