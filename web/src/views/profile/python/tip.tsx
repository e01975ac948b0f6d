/** What a frame is and what it took. */

import { count, visibleText } from "../../../lib/format";
import { pathTo, type Tree } from "../../../lib/icicle-tree";
import { formatShare, formatUnit } from "../../../lib/profile-format";
import type { PythonState } from "./state";

export function FrameTip({ state }: { state: PythonState }) {
  const found = state.hovered.value;
  const tree = state.tree.value;
  if (!found || !tree || found.node >= tree.parent.length) return null;
  const { width, height } = state.size.value;
  const style = {
    ...(found.x > width / 2 ? { right: `${width - found.x + 14}px` } : { left: `${found.x + 14}px` }),
    ...(found.y > height - 140 ? { bottom: `${height - found.y + 10}px` } : { top: `${found.y + 16}px` }),
  };
  const [name, place] = frameWords(tree, found.node, state.packages.value);
  return (
    <div class="vstack anywhere floating tip timeline-tip" style={style} role="status">
      <strong class="isolate">{name}</strong>
      {place ? <span class="quiet isolate">{place}</span> : null}
      <FrameNumbers state={state} tree={tree} node={found.node} />
    </div>
  );
}

/** The name of a node, and where it is written. */
export function frameWords(tree: Tree, node: number, packages: readonly string[] = []): [string, string] {
  const at = tree.name[node] as number;
  const [name, file, line] = [tree.stack.names[at] ?? "", tree.stack.files[at] ?? "", tree.stack.lines[at] ?? 0];
  const place = file ? `${file}${line > 0 ? `:${line}` : ""}` : (packages[at] ?? "");
  return [visibleText(name).slice(0, 300), visibleText(place)];
}

/** Shares are of the thread it runs in; of callers, of all that is shown. */
export function FrameNumbers({ state, tree, node }: { state: PythonState; tree: Tree; node: number }) {
  const unit = tree.stack.unit ?? "ns";
  const [total, own] = [tree.total[node] as number, tree.own[node] as number];
  const above = tree.parent[node] as number;
  const whole =
    state.direction.value === "callees" ? (tree.total[pathTo(tree, node)[0] as number] as number) : tree.whole;
  const ofCaller = above >= 0 ? (tree.total[above] as number) : 0;
  const calls = tree.calls?.[node];
  return (
    <span class="wraps digits icicle-numbers">
      <span title="With all that it calls">
        {formatUnit(total, unit)} in all ({formatShare(total / Math.max(whole, 1e-300))})
      </span>
      <span title="Without what it calls">{formatUnit(own, unit)} own</span>
      {ofCaller > 0 ? (
        <span title="Of the time of its caller">{formatShare(total / ofCaller)} of its caller</span>
      ) : null}
      {calls ? <span>{count(calls, "call")}</span> : null}
    </span>
  );
}
