/** Which tree, which way, which colours; search; the way from the root to what fills the width. */

import { useRef } from "preact/hooks";
import { Button, Select, TextInput } from "../../../components";
import { SearchIcon } from "../../../components/icons";
import { count, visibleText } from "../../../lib/format";
import { pathTo } from "../../../lib/icicle-tree";
import { formatShare } from "../../../lib/profile-format";
import type { StackSource } from "../../../lib/schema";
import type { PythonState } from "./state";
import { FrameNumbers, frameWords } from "./tip";

export function Toolbar({ state }: { state: PythonState }) {
  const box = useRef<HTMLInputElement>(null);
  const sources = state.sources.value ?? [];
  const search = state.search.value;
  const tree = state.tree.value;
  return (
    <div class="bar timeline-bar">
      <TextInput
        inputRef={box}
        class="timeline-find-box"
        label="Find functions"
        placeholder="Find functions and files, or /pattern/"
        icon={<SearchIcon size={14} />}
        value={state.query.value}
        bad={Boolean(search?.error)}
        onInput={(value) => ((state.focus.value = null), (state.query.value = value))}
        onKeyDown={(event) => event.key === "Escape" && ((state.query.value = ""), box.current?.blur())}
      />
      {search && tree ? (
        <span class={search.error ? "bad timeline-find-error" : "quiet"} role="status">
          {search.error ?? `${count(search.names, "function")}, ${formatShare(search.total / tree.whole)} of the time`}
        </span>
      ) : null}
      <span class="spring" />
      {sources.length > 1 ? (
        <Select
          label="Call tree"
          value={state.source.value}
          options={sources.map((one) => ({ value: one.id, label: labelOf(one, sources) }))}
          onChange={(id) => void state.open(id)}
        />
      ) : null}
      <Select
        label="Direction"
        value={state.direction.value}
        options={[
          { value: "callees", label: "What is called" },
          { value: "callers", label: "Callers (inverted)" },
        ]}
        onChange={(value) => state.turnTo(value)}
      />
      <Select
        label="Picture"
        value={state.flame.value ? "flame" : "icicle"}
        options={[
          { value: "icicle", label: "Icicle" },
          { value: "flame", label: "Flame" },
        ]}
        onChange={(value) => (state.flame.value = value === "flame")}
      />
      <Select
        label="Color by"
        value={state.colour.value}
        options={[
          { value: "package", label: "Color by package" },
          { value: "file", label: "Color by file" },
          { value: "function", label: "Color by function" },
        ]}
        onChange={(value) => (state.colour.value = value)}
      />
    </div>
  );
}

const shortened = (name: string): string => (name.length > 48 ? `${name.slice(0, 46)}…` : name);

/** Its title; where several have the same, what they are. */
function labelOf(source: StackSource, all: readonly StackSource[]): string {
  const alone = all.filter((one) => one.title === source.title).length === 1;
  return visibleText(alone ? source.title : `${source.title}: ${source.summary}`).slice(0, 80);
}

/** The callers of what fills the width, each of which can be gone back to. */
export function Crumbs({ state }: { state: PythonState }) {
  const tree = state.tree.value;
  if (!tree) return null;
  const root = state.root.value;
  const path = root >= 0 ? pathTo(tree, root) : [];
  const shown = path.length > 8 ? [...path.slice(0, 2), -2, ...path.slice(-5)] : path;
  const only = state.only.value;
  const [under, base] = [state.under.value, state.base.value];
  return (
    <nav class="hstack small one-line under icicle-crumbs" aria-label="Current location">
      <button type="button" aria-current={root < 0 ? "true" : undefined} onClick={() => state.zoom(-1)}>
        {only !== null
          ? `Callers of ${visibleText(tree.stack.names[only] ?? "")}`
          : under >= 0 && base
            ? `In ${frameWords(base, under)[0]}`
            : "All"}
      </button>
      {shown.map((node) => (
        <span key={node}>
          <span class="quiet">›</span>
          {node === -2 ? (
            <span
              class="quiet"
              title={path
                .slice(2, -5)
                .map((one) => frameWords(tree, one)[0])
                .join("\n")}
            >
              …
            </span>
          ) : (
            <button
              type="button"
              class="isolate"
              aria-current={node === root ? "true" : undefined}
              title={frameWords(tree, node).join("\n")}
              onClick={() => state.zoom(node)}
            >
              {shortened(frameWords(tree, node)[0])}
            </button>
          )}
        </span>
      ))}
    </nav>
  );
}

/** The chosen frame, with what can be asked about it. */
export function ChosenFrame({ state }: { state: PythonState }) {
  const tree = state.tree.value;
  const node = state.chosen.value;
  if (!tree || node < 0 || node >= tree.parent.length) return null;
  const [name, place] = frameWords(tree, node, state.packages.value);
  const at = tree.name[node] as number;
  return (
    <div class="hstack gap-3 px-3 py-1 small over icicle-chosen">
      <strong class="isolate ellipsis" title={name}>
        {name}
      </strong>
      <code class="isolate ellipsis" title={place}>
        {place}
      </code>
      <FrameNumbers state={state} tree={tree} node={node} />
      <span class="spring" />
      <Button kind="quiet" onClick={() => state.turnTo("callers", at)}>
        Who calls it
      </Button>
      {state.direction.value === "callers" ? (
        <Button kind="quiet" onClick={() => state.turnTo("callees")}>
          Back to what is called
        </Button>
      ) : null}
    </div>
  );
}
