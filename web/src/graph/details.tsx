/** Everything the recording knows of the choice. */

import type { ComponentChildren } from "preact";
import { IconButton } from "../components/button";
import { CloseIcon, CopyIcon } from "../components/icons";
import { visibleText } from "../lib/format";
import { amountOf } from "../lib/graph-measure";
import { type Box, boxAt, type Item, itemOfNode, type Node, nodeAt } from "../lib/graph-model";
import { captionOf, cut, formatBytes, formatCount, formatMicros } from "../lib/graph-words";
import { Tensors } from "./details-tensors";
import type { GraphState } from "./state";

export function Details({ state }: { state: GraphState }) {
  const item = state.selected.value;
  if (item === null) return null;
  const box = boxAt(state.model, item);
  const node = nodeAt(state.model, item);
  const { title, detail } = captionOf(state.shown.value, item);
  const kind = node ? (node.kind === "op" ? phaseOf(node.phase) : node.kind) : detail;
  return (
    <aside class="vstack rigid graph-details" aria-label="Details of the selection">
      <header>
        <div>
          <h2 class={node ? "mono isolate" : "isolate"}>{cut(title)}</h2>
          {kind ? <p class="quiet isolate">{visibleText(kind)}</p> : null}
        </div>
        <IconButton label="Close (Esc)" onClick={() => state.select(null)}>
          <CloseIcon size={14} />
        </IconButton>
      </header>
      <div class="vstack gap-4 fill-down scroll graph-details-body">
        {box ? (
          <BoxFacts state={state} box={box} />
        ) : node ? (
          <NodeFacts state={state} node={node} />
        ) : (
          <PartFacts state={state} item={item} />
        )}
      </div>
    </aside>
  );
}

function phaseOf(phase: string): string {
  return phase === "other" ? "op" : `op in ${phase}`;
}

export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  const known = facts.filter(([, value]) => value !== null && value !== "" && value !== undefined);
  if (known.length === 0) return null;
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="isolate">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function BoxFacts({ state, box }: { state: GraphState; box: Box }) {
  const together = (by: "time" | "memory" | "flops") => amountOf(state.shown.value, box.id, by);
  const folded = box.repeat > 1 && !state.unfolded.value.has(box.id);
  const each = (one: string, all: number | null, text: (value: number) => string) =>
    folded && all !== null ? (
      <>
        {one}{" "}
        <span class="quiet">
          · {text(all)} in all {box.repeat}
        </span>
      </>
    ) : (
      one
    );
  return (
    <>
      <Trouble text={box.error} bad={box.nonfinite} />
      <Facts
        facts={[
          ["module", box.path === null || box.path === "" ? null : <code>{visibleText(box.path)}</code>],
          ["arguments", box.extra ? <code>{visibleText(box.extra)}</code> : null],
          ["parameters", box.parameters ? box.parameters.toLocaleString("en-US") : null],
          ["time", box.time_us === null ? null : each(formatMicros(box.time_us), together("time"), formatMicros)],
          ["FLOPs", box.flops === null ? null : each(formatCount(box.flops), together("flops"), formatCount)],
          [
            "kept for backward",
            box.saved_bytes ? each(formatBytes(box.saved_bytes), together("memory"), formatBytes) : null,
          ],
          ["ops", box.ops.toLocaleString("en-US")],
          ["call", box.calls > 1 ? `${box.call + 1} of ${box.calls}` : null],
        ]}
      />
      {box.repeat > 1 || box.fold !== null ? (
        <button type="button" class="full button" onClick={() => state.toggleFold(box.id)}>
          {folded ? `Show the ${box.repeat} blocks one by one` : "Fold the equal blocks"}
        </button>
      ) : null}
      <Source state={state} site={box.site} title="Made at" />
      <Tensors state={state} item={box.id} />
    </>
  );
}

function NodeFacts({ state, node }: { state: GraphState; node: Node }) {
  const forward = node.forward === null ? undefined : state.model.nodes[node.forward];
  const marks = [node.inplace ? "writes in place" : "", node.view ? "makes a view" : ""].filter(Boolean).join(", ");
  const path = node.box === null ? null : boxAt(state.model, node.box)?.path;
  return (
    <>
      <Trouble text={node.error} bad={node.nonfinite} />
      <Facts
        facts={[
          ["module", path ? <code>{visibleText(path)}</code> : null],
          ["arguments", node.args ? <code>{visibleText(node.args)}</code> : null],
          ["time", node.time_us === null ? null : formatMicros(node.time_us)],
          [
            "FLOPs",
            node.flops === null ? (
              node.kind === "op" ? (
                <span class="quiet">no formula</span>
              ) : null
            ) : (
              formatCount(node.flops)
            ),
          ],
          ["kept for backward", node.saved_bytes ? formatBytes(node.saved_bytes) : null],
          ["memory", marks],
          ["op", node.op === null ? null : `${(node.op + 1).toLocaleString("en-US")} of the step`],
          [
            "backward of",
            forward ? (
              <button
                type="button"
                class="graph-link mono"
                onClick={() => state.goTo(itemOfNode(state.model, forward.id))}
              >
                {cut(forward.name)}
              </button>
            ) : null,
          ],
        ]}
      />
      <Source state={state} site={node.site} title={node.kind === "op" ? "Called at" : "Made at"} />
      <Tensors state={state} item={itemOfNode(state.model, node.id)} />
    </>
  );
}

function PartFacts({ state, item }: { state: GraphState; item: Item }) {
  const part = state.shown.value.parts.get(item);
  const time = amountOf(state.shown.value, item, "time");
  const flops = amountOf(state.shown.value, item, "flops");
  if (!part) return null;
  return (
    <Facts
      facts={[
        ["items", `${part.first + 1} to ${part.last + 1}, in the order they ran`],
        ["time", time === null ? null : formatMicros(time)],
        ["FLOPs", flops === null ? null : formatCount(flops)],
      ]}
    />
  );
}

function Trouble({ text, bad }: { text: string | null; bad: boolean }) {
  if (!text && !bad) return null;
  return (
    <p class="banner isolate graph-trouble" data-tone="bad">
      {text ? visibleText(text) : "Produced NaN or Inf."}
    </p>
  );
}

function Source({ state, site, title }: { state: GraphState; site: number | null; title: string }) {
  const place = site === null ? undefined : state.model.sites[site];
  if (!place) return null;
  const where = `${place.file}:${place.line}`;
  return (
    <section class="graph-source">
      <h3>{title}</h3>
      <div class="hstack gap-1 small graph-source-where">
        <code class="isolate" title={visibleText(where)}>
          {visibleText(shortPlace(where))}
        </code>
        <IconButton label="Copy file and line" onClick={() => void navigator.clipboard?.writeText(where)}>
          <CopyIcon size={12} />
        </IconButton>
      </div>
      {place.function ? <p class="graph-source-in quiet isolate">in {cut(place.function)}</p> : null}
      {place.text ? <pre class="code-box isolate">{visibleText(place.text)}</pre> : null}
    </section>
  );
}

/** The last folder is enough to know the file; the whole path is in the tooltip. */
function shortPlace(where: string): string {
  const parts = where.split("/");
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : where;
}
