/** The runs beside the charts: whose line is which, who is hidden, who is pinned. */

import { useComputed } from "@preact/signals";
import { useState } from "preact/hooks";
import { EyeIcon, EyeOffIcon, PinIcon, SearchIcon } from "../../components/icons";
import { Button, IconButton, StatusDot, TextInput } from "../../components";
import { Middle } from "../../components/middle";
import { count } from "../../lib/format";
import {
  chartRuns,
  hidden,
  hiddenSet,
  hovered,
  known,
  lookOfRun,
  nameOf,
  selected,
  setSelected,
  toggleHidden,
} from "../../state";
import { linkTo } from "../../router";
import { useScope } from "./scope";
import { runName } from "../../twins";

const MOST_ROWS = 300;

export function RunList() {
  const { drawAll, leftOut, spotlit, settings } = useScope();
  const { pinnedRun } = settings;
  const [filter, setFilter] = useState("");
  const runs = chartRuns.value;
  const wanted = filter.trim().toLowerCase();
  const pinned = pinnedRun.value;
  const shown = runs.filter((id) => !wanted || nameOf(id).toLowerCase().includes(wanted));
  const ordered = shown.includes(pinned) ? [pinned, ...shown.filter((id) => id !== pinned)] : shown;
  const anyHidden = runs.some((id) => hiddenSet.value.has(id));
  return (
    <aside class="vstack gap-2 subtle run-list" aria-label="Runs on the charts">
      <header>
        <h2>{selected.value.length ? count(runs.length, "run") : `Newest ${count(runs.length, "run")}`}</h2>
        <span class="spring" />
        <Button kind="quiet" onClick={() => (hidden.value = anyHidden ? [] : [...runs])}>
          {anyHidden ? "Show all" : "Hide all"}
        </Button>
      </header>
      {runs.length > 8 ? (
        <TextInput
          label="Find a run"
          placeholder="Find a run"
          icon={<SearchIcon size={14} />}
          value={filter}
          onInput={setFilter}
        />
      ) : null}
      <ul onPointerLeave={() => (spotlit.value = null)}>
        {ordered.slice(0, MOST_ROWS).map((id) => (
          <RunItem key={id} id={id} />
        ))}
      </ul>
      {ordered.length > MOST_ROWS ? (
        <p class="small quiet px-2">{ordered.length - MOST_ROWS} more: find them by name.</p>
      ) : null}
      {leftOut.value > 0 ? (
        <p class="small quiet px-2">
          Drawing the first {count(runs.length - leftOut.value, "run")}.{" "}
          <button type="button" class="link" onClick={() => (drawAll.value = true)}>
            Draw all
          </button>
        </p>
      ) : null}
      <footer>
        {selected.value.length ? (
          <button type="button" class="link" onClick={() => setSelected([])}>
            Clear selection
          </button>
        ) : (
          <a href={linkTo("/runs")}>Choose runs…</a>
        )}
      </footer>
    </aside>
  );
}

function RunItem({ id }: { id: string }) {
  const scope = useScope();
  const { spotlit, settings } = scope;
  const { pinnedRun } = settings;
  const drawnAs = scope.colourId(id);
  const look = lookOfRun(drawnAs);
  const off = hiddenSet.value.has(id);
  const row = known.value.get(id);
  const pinned = pinnedRun.value === id;
  const name = runName(id);
  // Read through a computed: of hundreds of items only the two that change are rendered again.
  const strong = useComputed(() => hovered.value === drawnAs || spotlit.value === drawnAs);
  // Its tools are built when somebody comes near: in a list of a hundred they are half of the page's elements.
  const [near, setNear] = useState(false);
  return (
    <li
      class="hstack gap-2 anchor run-item"
      data-off={off || undefined}
      data-strong={strong.value || undefined}
      onPointerEnter={() => (setNear(true), (spotlit.value = off ? null : drawnAs))}
      onFocusIn={() => setNear(true)}
    >
      <button
        type="button"
        class="run-eye"
        aria-pressed={!off}
        aria-label={`${off ? "Show" : "Hide"} ${name}`}
        onClick={() => toggleHidden(id)}
      >
        <svg width="18" height="8" aria-hidden="true">
          <line
            x1="1"
            x2="17"
            y1="4"
            y2="4"
            stroke={look.colour}
            stroke-width="3"
            stroke-linecap="round"
            stroke-dasharray={look.dash.join(" ") || undefined}
          />
        </svg>
      </button>
      <span class="fill isolate run-label" title={name}>
        <Middle text={name} />
      </span>
      {row && row.status !== "finished" ? <StatusDot status={row.status} word={false} /> : null}
      {near ? (
        <span class="run-tools">
          <IconButton
            label={pinned ? "Unpin" : "Pin: drawn bolder, listed first"}
            pressed={pinned}
            onClick={() => (pinnedRun.value = pinned ? "" : id)}
          >
            <PinIcon size={13} />
          </IconButton>
          <IconButton label={off ? "Show" : "Hide"} onClick={() => toggleHidden(id)}>
            {off ? <EyeOffIcon size={14} /> : <EyeIcon size={14} />}
          </IconButton>
        </span>
      ) : null}
    </li>
  );
}
