/** What the colours mean now. */

import { amountText, firstNonfinite, isAmount } from "../lib/graph-measure";
import { itemOfNode } from "../lib/graph-model";
import { visibleText } from "../lib/format";
import { inkStyle, looksOf } from "./look";
import type { GraphState } from "./state";

export function Legend({ state }: { state: GraphState }) {
  const by = state.colourBy.value;
  if (by === "none" || !state.scene.value) return null;
  const looks = looksOf(state.shown.value, by, state.scene.value.items);
  if (isAmount(by)) {
    return (
      <div class="hstack wraps soft small graph-legend">
        {looks.largest > 0 ? (
          <>
            <span>0</span>
            <span class="graph-scale" aria-hidden="true" />
            <span>{amountText(looks.largest, by)}</span>
          </>
        ) : (
          <span>{WITHOUT[by]}</span>
        )}
      </div>
    );
  }
  if (by === "nonfinite") return <Nonfinite state={state} />;
  return (
    <div class="hstack wraps soft small graph-legend">
      {[...looks.inks].slice(0, 8).map(([kind, ink]) => (
        <span key={kind} class="inline graph-kind-name">
          <span class="graph-swatch" style={inkStyle(ink)} />
          <span class="isolate">{visibleText(kind)}</span>
        </span>
      ))}
      {looks.inks.size > 8 ? <span class="quiet">and {looks.inks.size - 8} more</span> : null}
    </div>
  );
}

const WITHOUT = {
  time: "No times were recorded",
  memory: "Nothing was kept for backward",
  flops: "No op here has a FLOP formula",
};

function Nonfinite({ state }: { state: GraphState }) {
  const first = firstNonfinite(state.model);
  if (!state.model.data.values)
    return <div class="hstack wraps soft small graph-legend">This recording has no tensor statistics</div>;
  if (first === null) return <div class="hstack wraps soft small graph-legend">No op produced a NaN or Inf</div>;
  return (
    <div class="hstack wraps soft small graph-legend">
      <span class="inline graph-kind-name">
        <span class="graph-swatch graph-swatch-bad" /> produced NaN or Inf
      </span>
      <button type="button" class="graph-link" onClick={() => state.goTo(itemOfNode(state.model, first))}>
        Go to the first
      </button>
    </div>
  );
}
