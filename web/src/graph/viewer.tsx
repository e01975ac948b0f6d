/**
 * The graph of one recorded step: in the app's *Model* page, and alone in a single file. docs/model.md is its manual.
 */

import { Button } from "../components/button";
import { Skeleton } from "../components/states";
import { count, visibleText } from "../lib/format";
import "../style/graph.css";
import "../style/graph-overlay.css";
import "../style/graph-details.css";
import { Crumbs } from "./crumbs";
import { Details } from "./details";
import { Legend } from "./legend";
import { Minimap } from "./minimap";
import { Stage } from "./stage";
import type { GraphState } from "./state";
import { GraphBar, ZoomBar } from "./toolbar";

export function GraphViewer({ state }: { state: GraphState }) {
  return (
    <div class="fill anchor graph-viewer" data-chosen={state.selected.value !== null || undefined}>
      <div class="page">
        <GraphBar state={state} />
        <div class="fill-down anchor clipped graph-frame">
          <Stage state={state} />
          <Crumbs state={state} />
          <Notes state={state} />
          <div class="graph-corner graph-corner-left">
            <Legend state={state} />
          </div>
          <div class="graph-corner graph-corner-right">
            <Minimap state={state} />
            <ZoomBar state={state} />
          </div>
          <Waiting state={state} />
        </div>
      </div>
      <Details state={state} />
    </div>
  );
}

function Waiting({ state }: { state: GraphState }) {
  if (state.fault.value)
    return (
      <div class="hstack gap-4 centered graph-over" role="alert">
        <p>
          This part could not be drawn: {visibleText(String((state.fault.value as Error).message ?? state.fault.value))}
        </p>
        <Button onClick={() => state.closeAll()}>Collapse all boxes</Button>
      </div>
    );
  if (state.scene.value === null)
    return (
      <div class="hstack gap-4 centered graph-over" aria-busy="true">
        <Skeleton width={180} height={44} />
        <Skeleton width={180} height={44} />
        <Skeleton width={180} height={44} />
      </div>
    );
  return state.model.nodes.length === 0 ? (
    <div class="hstack gap-4 centered quiet graph-over">No op was recorded in these phases.</div>
  ) : null;
}

/** What ended the step, and what the recording knows that it did not see. */
function Notes({ state }: { state: GraphState }) {
  const { error, unseen } = state.model.data;
  if (!error && unseen.length === 0) return null;
  return (
    <div class="soft small graph-notes">
      {error ? (
        <p class="banner isolate graph-trouble" data-tone="bad">
          {visibleText(error)}
        </p>
      ) : null}
      {unseen.length > 0 ? (
        <details>
          <summary>{count(unseen.length, "part")} not seen</summary>
          {unseen.slice(0, 20).map((one, at) => (
            <p key={at} class="isolate">
              {visibleText(one)}
            </p>
          ))}
        </details>
      ) : null}
    </div>
  );
}
