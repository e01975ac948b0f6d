/** What the choice reads and writes, each with the op at the other end. */

import { formatNumber, visibleText } from "../lib/format";
import { boxAt, type Item, itemOfNode, type Stats, type Tensor } from "../lib/graph-model";
import { nodesInside } from "../lib/graph-shown";
import { cut, formatBytes, shapeText } from "../lib/graph-words";
import type { GraphState } from "./state";

interface Line {
  tensor: Tensor;
  others: number[];
  stats: Stats | null;
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
  const makerOf = new Map<number, number>();
  for (const id of inside) for (const at of model.nodes[id]?.outputs ?? []) makerOf.set(at, id);
  const reads = new Map<number, Line>();
  const writes = new Map<number, Line>();
  const note = (lines: Map<number, Line>, at: number, other: number | null, maker: number) => {
    const tensor = model.tensors[at];
    if (!tensor) return;
    const line = lines.get(at) ?? { tensor, others: [], stats: statsOf(state, at, maker) };
    if (other !== null && !line.others.includes(other)) line.others.push(other);
    lines.set(at, line);
  };
  for (const at of boxAt(model, item)?.outputs ?? []) note(writes, at, null, makerOf.get(at) ?? -1);
  for (const id of inside) {
    if (item >= model.boxes.length) for (const at of model.nodes[id]?.outputs ?? []) note(writes, at, null, id);
    for (const at of model.arriving[id] ?? []) {
      const edge = model.edges[at];
      if (edge && !inside.has(edge.source)) note(reads, edge.tensor, edge.source, edge.source);
    }
    for (const at of model.leaving[id] ?? []) {
      const edge = model.edges[at];
      if (edge && !inside.has(edge.target)) note(writes, edge.tensor, edge.target, id);
    }
  }
  return { reads: [...reads.values()], writes: [...writes.values()] };
}

/** What the op at `maker` wrote, if it made this tensor and its values were looked at. */
function statsOf(state: GraphState, tensor: number, maker: number): Stats | null {
  const node = state.model.nodes[maker];
  const at = node?.outputs.indexOf(tensor) ?? -1;
  return at < 0 ? null : (node?.stats[at] ?? null);
}

function TensorList({
  state,
  title,
  lines,
  way,
}: {
  state: GraphState;
  title: string;
  lines: readonly Line[];
  way: "from" | "to";
}) {
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

function TensorLine({
  state,
  line: { tensor, others, stats },
  way,
}: {
  state: GraphState;
  line: Line;
  way: "from" | "to";
}) {
  const about = [
    tensor.device,
    tensor.bytes ? formatBytes(tensor.bytes) : "",
    tensor.requires_grad ? "needs grad" : "",
  ];
  return (
    <li>
      <div class="wraps small graph-tensor-line">
        <code>{shapeText(tensor.shape)}</code>
        <span class="soft">{visibleText(tensor.dtype)}</span>
        <span class="quiet">{about.filter(Boolean).map(visibleText).join(" · ")}</span>
      </div>
      {stats ? <Values stats={stats} /> : null}
      {tensor.name ? <code class="soft anywhere isolate graph-tensor-name">{visibleText(tensor.name)}</code> : null}
      {others.length > 0 && !(tensor.name && tensor.kind === "parameter") ? (
        <div class="wraps small graph-tensor-ends">
          <span class="quiet">{way}</span>
          {others.slice(0, 4).map((id) => (
            <button
              key={id}
              type="button"
              class="graph-link mono isolate"
              onClick={() => state.goTo(itemOfNode(state.model, id))}
            >
              {cut(state.model.nodes[id]?.name ?? "")}
            </button>
          ))}
          {others.length > 4 ? <span class="quiet">+{others.length - 4}</span> : null}
        </div>
      ) : null}
    </li>
  );
}

/** What a tensor held: its range first, what is wrong with it in red. */
function Values({ stats }: { stats: Stats }) {
  const odd = [
    [stats.nan, "NaN"],
    [stats.pos_inf, "+Inf"],
    [stats.neg_inf, "−Inf"],
  ] as const;
  const bad = odd
    .filter(([many]) => (many ?? 0) > 0)
    .map(([many, name]) => `${(many ?? 0).toLocaleString("en-US")} ${name}`);
  const facts = [
    ["min", stats.min],
    ["mean", stats.mean],
    ["max", stats.max],
    ["std", stats.std],
  ] as const;
  const zeros = stats.numel > 0 ? (stats.zeros ?? 0) / stats.numel : 0;
  return (
    <div class="wraps tiny graph-values">
      {bad.length > 0 ? <span class="strong bad graph-values-bad">{bad.join(", ")}</span> : null}
      {facts.map(([name, value]) =>
        value === null || value === undefined ? null : (
          <span key={name}>
            <span class="quiet">{name}</span> {formatNumber(value, 3)}
          </span>
        ),
      )}
      {zeros > 0.005 ? (
        <span>
          <span class="quiet">zero</span> {formatNumber(100 * zeros, 2)}%
        </span>
      ) : null}
    </div>
  );
}
