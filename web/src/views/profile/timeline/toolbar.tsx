/** Search, colours, ranks, and the ways out: CSV of a selection, the trace for other viewers. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button, IconButton, Select, TextInput, Toggle } from "../../../components";
import {
  ChevronDownIcon,
  ChevronUpIcon,
  DownloadIcon,
  ExpandIcon,
  GroupIcon,
  MinusIcon,
  PlusIcon,
  SearchIcon,
} from "../../../components/icons";
import { count } from "../../../lib/format";
import { useKeys } from "../../../keys";
import { downloadAddress } from "../export";
import type { TimelineState } from "./state";

const REST_MS = 160;

export interface ToolbarProps {
  state: TimelineState;
  ranks: readonly number[];
  all: boolean;
  onAll(all: boolean): void;
}

export function Toolbar({ state, ranks, all, onAll }: ToolbarProps) {
  const { run, profile } = state.place;
  const rank = state.sources.value[0]?.page.rank ?? 0;
  return (
    <div class="bar timeline-bar">
      <SearchBox state={state} />
      <span class="spring" />
      {ranks.length > 1 ? <Toggle checked={all} label={`All ${ranks.length} ranks`} onChange={onAll} /> : null}
      <Select
        label="Color events by"
        value={state.colourBy.value}
        options={[
          { value: "name", label: "Color by name" },
          { value: "kind", label: "Color by kind" },
        ]}
        onChange={(value) => (state.colourBy.value = value)}
      />
      <Toggle checked={state.selecting.value} label="Drag selects" onChange={(on) => (state.selecting.value = on)} />
      <IconButton label="Open or close all lanes (c)" onClick={() => state.toggleAll()}>
        <GroupIcon />
      </IconButton>
      <IconButton label="Closer (w)" onClick={() => state.zoomBy(1.6)}>
        <PlusIcon />
      </IconButton>
      <IconButton label="Zoom out (s)" onClick={() => state.zoomBy(1 / 1.6)}>
        <MinusIcon />
      </IconButton>
      <IconButton label="Zoom out fully (r)" onClick={() => state.fitAll()}>
        <ExpandIcon />
      </IconButton>
      <a
        class="button button-quiet"
        href={downloadAddress({ run, profile, kind: "chrome", rank })}
        download
        title="The Chrome trace of this rank: open it at ui.perfetto.dev or chrome://tracing"
      >
        <DownloadIcon /> Trace for Perfetto
      </a>
    </div>
  );
}

function SearchBox({ state }: { state: TimelineState }) {
  const box = useRef<HTMLInputElement>(null);
  const text = useSignal("");
  useKeys({ n: () => void state.step(1), N: () => void state.step(-1) });
  useEffect(() => {
    const timer = setTimeout(() => void state.find(text.value), text.value ? REST_MS : 0);
    return () => clearTimeout(timer);
  }, [text.value, state.sources.value.length]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") void state.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      if (text.value === "") box.current?.blur();
      text.value = "";
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const search = state.search.value;
  return (
    <div class="hstack gap-1 small one-line" role="search">
      <TextInput
        inputRef={box}
        class="timeline-find-box"
        label="Find events by name"
        placeholder="Find events: gemm, or /^aten::(add|mul)/"
        icon={<SearchIcon size={14} />}
        value={text.value}
        bad={search.error !== null}
        onInput={(value) => (text.value = value)}
        onKeyDown={onKey}
      />
      {search.text ? (
        <>
          <span class={search.error ? "bad timeline-find-error" : "quiet"} role="status">
            {searchWords(search)}
          </span>
          <IconButton
            label="Previous match (Shift Enter)"
            disabled={search.total === 0}
            onClick={() => void state.step(-1)}
          >
            <ChevronUpIcon size={14} />
          </IconButton>
          <IconButton label="Next match (Enter)" disabled={search.total === 0} onClick={() => void state.step(1)}>
            <ChevronDownIcon size={14} />
          </IconButton>
          <Button kind="quiet" onClick={() => (text.value = "")}>
            Clear
          </Button>
        </>
      ) : null}
    </div>
  );
}

function searchWords(search: TimelineState["search"]["value"]): string {
  if (search.error) return search.error;
  if (search.asking) return `${count(search.names, "name")} …`;
  if (search.names === 0) return "no match";
  const total = search.total.toLocaleString("en-US");
  return search.at >= 0
    ? `${(search.at + 1).toLocaleString("en-US")} of ${total}`
    : `${count(search.total, "event")}, ${count(search.names, "name")}`;
}
