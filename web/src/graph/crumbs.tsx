/** Location of the selection: the boxes around it, each of which can be chosen. */

import { boxesAround } from "../lib/graph-model";
import { captionOf, cut } from "../lib/graph-words";
import type { GraphState } from "./state";

export function Crumbs({ state }: { state: GraphState }) {
  const item = state.selected.value;
  if (item === null) return null;
  const shown = state.shown.value;
  const known = item <= state.model.root;
  const way = known ? [...boxesAround(state.model, item), item] : [item];
  return (
    <nav class="wraps small framed raised graph-crumbs" aria-label="Location of the selection">
      {way.map((one, at) => (
        <span key={one}>
          {at > 0 ? <span class="quiet">›</span> : null}
          <button
            type="button"
            class="graph-crumb isolate"
            aria-current={one === item ? "true" : undefined}
            onClick={() => state.goTo(one)}
          >
            {cut(captionOf(shown, one).title)}
          </button>
        </span>
      ))}
    </nav>
  );
}
