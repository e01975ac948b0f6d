/** The lines between items, with what flows along them. */

import { LABEL_HEIGHT } from "../lib/graph-plan";
import { curve, type SceneEdge } from "../lib/graph-scene";
import type { GraphState } from "./state";

type Light = "on" | "off" | undefined;

export function Edges({ state, edges }: { state: GraphState; edges: readonly SceneEdge[] }) {
  const path = state.path.value;
  const near = state.neighbours.value;
  const light = (edge: SceneEdge): Light => {
    if (path) return edge.edges.some((one) => path.edges.has(one)) ? "on" : "off";
    return near.size > 0 && edge.edges.some((one) => near.has(one)) ? "on" : undefined;
  };
  const lit = edges.map((edge) => ({ edge, light: light(edge) }));
  // What is highlighted lies over the rest.
  lit.sort((a, b) => Number(a.light === "on") - Number(b.light === "on"));
  return (
    <g class="graph-edges">
      {lit.map(({ edge, light: on }) => (
        <path
          key={edge.key}
          class="graph-edge"
          d={curve(edge.bends)}
          data-light={on}
          data-many={edge.edges.length > 1 || undefined}
          marker-end={edge.goesOn ? undefined : "url(#graph-arrow)"}
        />
      ))}
      {lit.map(({ edge, light: on }) => (edge.label ? <Label key={`l ${edge.key}`} edge={edge} light={on} /> : null))}
    </g>
  );
}

function Label({ edge, light }: { edge: SceneEdge; light: Light }) {
  if (!edge.label) return null;
  const { x, y, text } = edge.label;
  const cut = text.lastIndexOf(" ");
  const [shape, dtype] = cut > 0 && !text.endsWith("tensors") ? [text.slice(0, cut), text.slice(cut)] : [text, ""];
  const width = text.length * 6.05 + 6;
  return (
    <g class="graph-label" data-light={light}>
      <rect x={x - width / 2} y={y - LABEL_HEIGHT / 2} width={width} height={LABEL_HEIGHT} rx={3} />
      <text x={x} y={y}>
        {shape}
        <tspan class="graph-dtype">{dtype}</tspan>
      </text>
    </g>
  );
}
