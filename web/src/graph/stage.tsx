/** The drawing: an SVG that is moved as a whole, with only what is near the screen in it. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { grown, holds, meets, type Rect, seen } from "../lib/graph-camera";
import { isAmount } from "../lib/graph-measure";
import type { Item } from "../lib/graph-model";
import type { SceneEdge } from "../lib/graph-scene";
import { seenAs } from "../lib/graph-shown";
import { captionOf } from "../lib/graph-words";
import { Edges } from "./edges";
import { listenToStage } from "./gestures";
import { itemId, ItemView } from "./item";
import { type Looks, looksOf } from "./look";
import type { GraphState } from "./state";

const NOTHING: Rect = { x: 0, y: 0, w: 0, h: 0 };

export function Stage({ state }: { state: GraphState }) {
  const frame = useRef<HTMLDivElement>(null);
  const world = useRef<SVGGElement>(null);
  /** The part of the drawing that is in the page: somewhat more than the screen, renewed when the screen leaves it. */
  const near = useSignal<Rect>(NOTHING);
  useLayoutEffect(() => listenToStage(frame.current as HTMLDivElement, state), [state]);
  useSignalEffect(() => {
    const { left, top, scale } = state.camera.value;
    const element = world.current;
    if (!element) return;
    frame.current?.toggleAttribute("data-glide", state.glides.value);
    frame.current?.setAttribute("data-detail", scale < 0.3 ? "little" : scale < 0.55 ? "some" : "all");
    element.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
    const now = seen(state.camera.value, state.screen.value);
    const tooMuch = near.peek().w > now.w * 6;
    if (!holds(near.peek(), now) || tooMuch) near.value = grown(now, 0.7);
  });
  const looks = useComputed(() => looksOf(state.shown.value, state.colourBy.value, state.scene.value?.items ?? []));
  const chosen = state.selected.value;
  const focus = chosen === null ? null : seenAs(state.shown.value, state.open.value, chosen);
  return (
    <div
      ref={frame}
      class="graph-stage"
      tabIndex={0}
      role="application"
      aria-label={`Graph of ${state.model.data.model || "the step"}. Arrows move along edges, Enter opens a box.`}
      aria-busy={state.laying.value}
      aria-activedescendant={focus === null ? undefined : itemId(focus)}
    >
      <svg class="full block graph-svg" aria-hidden={state.scene.value ? undefined : "true"}>
        <defs>
          <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 .8 7 4 0 7.2Z" fill="context-stroke" />
          </marker>
        </defs>
        <g ref={world} class="graph-world">
          <Drawing state={state} looks={looks.value} near={near.value} focus={focus} />
        </g>
      </svg>
      <span class="visually-hidden" role="status">
        {chosen === null ? "" : captionOf(state.shown.value, chosen).title}
      </span>
    </div>
  );
}

function Drawing({ state, looks, near, focus }: { state: GraphState; looks: Looks; near: Rect; focus: Item | null }) {
  const scene = state.scene.value;
  if (!scene) return null;
  const shown = state.shown.value;
  const { colourBy, path } = state;
  const amount = isAmount(colourBy.value) ? colourBy.value : null;
  const items = scene.items.filter((place) => meets(place, near));
  const lit = path.value === null ? null : litItems(state);
  const edges = scene.edges.filter((edge) => meets(extent(edge), near));
  return (
    <>
      {items
        .filter((place) => place.open)
        .map((place) => (
          <ItemView
            key={place.item}
            shown={shown}
            place={place}
            look={looks.of(place.item)}
            amount={amount}
            chosen={place.item === focus}
            dim={false}
          />
        ))}
      <Edges key={state.turn.value} state={state} edges={edges} />
      {items
        .filter((place) => !place.open)
        .map((place) => (
          <ItemView
            key={place.item}
            shown={shown}
            place={place}
            look={looks.of(place.item)}
            amount={amount}
            chosen={place.item === focus}
            dim={lit !== null && !lit.has(place.item)}
          />
        ))}
    </>
  );
}

/** The items on the drawing that lie on the highlighted path. */
function litItems(state: GraphState): Set<Item> {
  const lit = new Set<Item>();
  const { model } = state;
  for (const node of state.path.value?.nodes ?? []) {
    const item = seenAs(state.shown.value, state.open.value, model.boxes.length + node);
    if (item !== null) lit.add(item);
  }
  return lit;
}

const extents = new WeakMap<SceneEdge, Rect>();

function extent(edge: SceneEdge): Rect {
  let rect = extents.get(edge);
  if (!rect) {
    const xs = edge.bends.filter((_, at) => at % 2 === 0);
    const ys = edge.bends.filter((_, at) => at % 2 === 1);
    const [x, y] = [Math.min(...xs) - 60, Math.min(...ys)];
    rect = { x, y, w: Math.max(...xs) + 60 - x, h: Math.max(1, Math.max(...ys) - y) };
    extents.set(edge, rect);
  }
  return rect;
}
