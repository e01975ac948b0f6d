/** Finding an op or module by name, class, shape, file or line, and going there. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { TextInput } from "../components/fields";
import { SearchIcon } from "../components/icons";
import { visibleText } from "../lib/format";
import type { Item } from "../lib/graph-model";
import { search } from "../lib/graph-search";
import { cut } from "../lib/graph-words";
import { useKeys } from "../keys";
import type { GraphState } from "./state";

export function SearchBox({ state }: { state: GraphState }) {
  const box = useRef<HTMLInputElement>(null);
  const query = useSignal("");
  const at = useSignal(0);
  const open = useSignal(false);
  useKeys({ "/": () => box.current?.focus() });
  const { found, total } = search(state.index, query.value);
  const go = (item: Item) => {
    state.goTo(item);
    open.value = false;
    box.current?.closest(".graph-viewer")?.querySelector<HTMLElement>(".graph-stage")?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) at.value = Math.max(0, Math.min(found.length - 1, at.value + step));
    else if (event.key === "Enter") found[at.value] && go(found[at.value]?.item as Item);
    else if (event.key === "Escape") {
      if (query.value === "") box.current?.blur();
      query.value = "";
      open.value = false;
    } else return;
    event.preventDefault();
    event.stopPropagation();
    document.getElementById(`graph-hit-${at.value}`)?.scrollIntoView({ block: "nearest" });
  };
  const showing = open.value && query.value.trim() !== "";
  return (
    <div
      class="anchor shrinks graph-find"
      onFocusOut={(event) =>
        !(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node) && (open.value = false)
      }
    >
      <TextInput
        inputRef={box}
        label="Find an op, module, shape or file"
        placeholder="Find op, module, shape, file"
        icon={<SearchIcon size={14} />}
        value={query.value}
        role="combobox"
        aria-expanded={showing}
        aria-controls="graph-hits"
        aria-activedescendant={showing && found.length > 0 ? `graph-hit-${at.value}` : undefined}
        onFocus={() => (open.value = true)}
        onInput={(value) => {
          query.value = value;
          at.value = 0;
          open.value = true;
        }}
        onKeyDown={onKey}
      />
      {showing ? (
        <div class="floating graph-hits" id="graph-hits" role="listbox" aria-label="Found">
          {found.map((hit, index) => (
            <button
              key={hit.item}
              id={`graph-hit-${index}`}
              type="button"
              class="option graph-hit"
              role="option"
              aria-selected={index === at.value}
              onClick={() => go(hit.item)}
            >
              <span class={hit.item < state.model.boxes.length ? "strong isolate" : "graph-hit-op mono isolate"}>
                {cut(hit.title)}
              </span>
              <span class="fill small isolate ellipsis quiet">{visibleText(hit.where)}</span>
              <span class="rigid soft isolate graph-hit-detail">{cut(hit.detail)}</span>
            </button>
          ))}
          <p class="px-2 py-1 small quiet">
            {total === 0
              ? "Nothing matches all of these words."
              : `${total.toLocaleString("en-US")} found${total > found.length ? `, the first ${found.length} shown` : ""}`}
          </p>
        </div>
      ) : null}
    </div>
  );
}
