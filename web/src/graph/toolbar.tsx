/** Search, colour, path and zoom, over the drawing. */

import { IconButton } from "../components/button";
import { Select } from "../components/fields";
import { MinusIcon, PlusIcon, ResetIcon } from "../components/icons";
import { COLOURS } from "../lib/graph-measure";
import type { Direction } from "../lib/graph-path";
import { useKeys } from "../keys";
import { DownIcon, FitIcon, UpDownIcon, UpIcon, WeightsIcon } from "./icons";
import { SearchBox } from "./search-box";
import type { GraphState } from "./state";

export function GraphBar({ state }: { state: GraphState }) {
  const { model } = state;
  const colours = COLOURS.filter(({ value }) => value !== "phase" || model.data.phases.length > 1);
  const hasWeights = model.nodes.some((node) => node.kind === "parameter" || node.kind === "buffer");
  return (
    <div class="hstack gap-2 rigid under graph-bar" role="toolbar" aria-label="Graph">
      <SearchBox state={state} />
      <Select
        label="Color by"
        value={state.colourBy.value}
        options={colours}
        onChange={(value) => (state.colourBy.value = value)}
      />
      {hasWeights ? (
        <IconButton
          label="Parameters and buffers as nodes (w)"
          pressed={state.weights.value}
          onClick={() => (state.weights.value = !state.weights.peek())}
        >
          <WeightsIcon />
        </IconButton>
      ) : null}
      <span class="graph-bar-line" />
      <PathButton state={state} way="up" label="What the selection depends on (u)" />
      <PathButton state={state} way="down" label="What depends on the selection (d)" />
      <PathButton state={state} way="both" label="Both ways (p)" />
    </div>
  );
}

const PATHS = { up: UpIcon, down: DownIcon, both: UpDownIcon };

function PathButton({ state, way, label }: { state: GraphState; way: Direction; label: string }) {
  const Icon = PATHS[way];
  return (
    <IconButton
      label={label}
      disabled={state.selected.value === null}
      pressed={state.direction.value === way}
      onClick={() => turnPath(state, way)}
    >
      <Icon />
    </IconButton>
  );
}

function turnPath(state: GraphState, way: Direction): void {
  if (state.selected.peek() === null) return;
  state.direction.value = state.direction.peek() === way ? null : way;
}

export function ZoomBar({ state }: { state: GraphState }) {
  useKeys({
    "+": () => state.zoomBy(1.3, undefined, undefined, true),
    "=": () => state.zoomBy(1.3, undefined, undefined, true),
    "-": () => state.zoomBy(1 / 1.3, undefined, undefined, true),
    "0": () => state.fitAll(true, true),
    u: () => turnPath(state, "up"),
    d: () => turnPath(state, "down"),
    p: () => turnPath(state, "both"),
    w: () => (state.weights.value = !state.weights.peek()),
    Escape: () => (state.direction.peek() !== null ? (state.direction.value = null) : state.select(null)),
  });
  return (
    <div class="vstack graph-zoom" role="toolbar" aria-label="Zoom">
      <IconButton label="Zoom in (+)" onClick={() => state.zoomBy(1.3, undefined, undefined, true)}>
        <PlusIcon />
      </IconButton>
      <IconButton label="Zoom out (−)" onClick={() => state.zoomBy(1 / 1.3, undefined, undefined, true)}>
        <MinusIcon />
      </IconButton>
      <IconButton label="Fit to the window (0)" onClick={() => state.fitAll(true, true)}>
        <FitIcon />
      </IconButton>
      <IconButton label="Reset the boxes" onClick={() => state.closeAll()}>
        <ResetIcon />
      </IconButton>
    </div>
  );
}
