/** What the choice reads and writes, each with the op at the other end. */

import { visibleText } from "../lib/format";
import { type Item, itemOfNode, type Tensor } from "../lib/graph-model";
import { nodesInside } from "../lib/graph-shown";
import { cut, formatBytes, shapeText } from "../lib/graph-words";
import type { GraphState } from "./state";

interface Line {
  tensor: Tensor;
  others: number[];
}

const MANY = 12;

export function Tensors({ state, item }: { state: GraphState; item: Item }) {
  const { reads, writes } = linesOf(state, item);
  return (
    <>
      <TensorList state={state} title="Reads" lines={reads} way="from" />
      <TensorList state={state} title="Writes" lines={writes} way="to" />
    </>
  );
}

/** Tensors that cross the border of the choice; what an op writes and nobody reads is shown too. */
function linesOf(state: GraphState, item: Item): { reads: Line[]; writes: Line[] } {
  const { model } = state;
  const inside = new Set(nodesInside(state.shown.value, item));
  const reads = new Map<number, Line>();
  const writes = new Map<number, Line>();
  const note = (lines: Map<number, Line>, at: number, other: number | null) => {
    const tensor = model.tensors[at];
    if (!tensor) return;
    const line = lines.get(at) ?? { tensor, others: [] };
    if (other !== null && !line.others.includes(other)) line.others.push(other);
    lines.set(at, line);
  };
  for (const id of inside) {
    if (inside.size === 1) for (const at of model.nodes[id]?.outputs ?? []) note(writes, at, null);
    for (const at of model.arriving[id] ?? []) {
      const edge = model.edges[at];
      if (edge && !inside.has(edge.source)) note(reads, edge.tensor, edge.source);
    }
    for (const at of model.leaving[id] ?? []) {
      const edge = model.edges[at];
      if (edge && !inside.has(edge.target)) note(writes, edge.tensor, edge.target);
    }
  }
  return { reads: [...reads.values()], writes: [...writes.values()] };
}

function TensorList({ state, title, lines, way }: { state: GraphState; title: string; lines: readonly Line[]; way: "from" | "to" }) {
  if (lines.length === 0) return null;
  return (
    <section class="graph-tensors">
      <h3>{title}</h3>
      <ul>
        {lines.slice(0, MANY).map((line, at) => (
          <TensorLine key={at} state={state} line={line} way={way} />
        ))}
      </ul>
      {lines.length > MANY ? <p class="quiet">and {lines.length - MANY} more</p> : null}
    </section>
  );
}

function TensorLine({ state, line: { tensor, others }, way }: { state: GraphState; line: Line; way: "from" | "to" }) {
  const about = [tensor.device, tensor.bytes ? formatBytes(tensor.bytes) : "", tensor.requires_grad ? "needs grad" : ""];
  return (
    <li>
      <div class="graph-tensor-line">
        <code>{shapeText(tensor.shape)}</code>
        <span class="graph-tensor-dtype">{visibleText(tensor.dtype)}</span>
        <span class="quiet">{about.filter(Boolean).map(visibleText).join(" · ")}</span>
      </div>
      {tensor.name ? <code class="graph-tensor-name isolate">{visibleText(tensor.name)}</code> : null}
      {others.length > 0 && !(tensor.name && tensor.kind === "parameter") ? (
        <div class="graph-tensor-ends">
          <span class="quiet">{way}</span>
          {others.slice(0, 4).map((id) => (
            <button key={id} type="button" class="graph-link mono isolate" onClick={() => state.goTo(itemOfNode(state.model, id))}>
              {cut(state.model.nodes[id]?.name ?? "")}
            </button>
          ))}
          {others.length > 4 ? <span class="quiet">+{others.length - 4}</span> : null}
        </div>
      ) : null}
    </li>
  );
}
