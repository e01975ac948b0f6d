/** How histograms are drawn, which layers are shown in which order, and the step that all of them mark. */

import { IconButton, Select, Slider, TextInput, Toggle } from "../../components";
import { CloseIcon, SearchIcon } from "../../components/icons";
import { Segments } from "../../components/segments";
import { type LayerOrder, ORDER_WORDS, ORDERS, type SharedRange, stepsOf } from "../../lib/distributions";
import { count, visibleText } from "../../lib/format";
import type { Distributions } from "../../lib/schema";
import { inkOfRun, nameOf } from "../../state";
import * as settings from "./settings";

const RANGES: readonly { value: SharedRange; label: string; about: string }[] = [
  { value: "own", label: "Own", about: "Each panel has the range of its own values" },
  { value: "column", label: "Column", about: "All layers of a column share one range of values" },
  { value: "row", label: "Row", about: "The panels of a layer share one range of values" },
];

export function DistributionBar({
  data,
  runs,
  shown,
  without,
  sound,
}: {
  data: Distributions;
  runs: readonly string[];
  shown: number;
  without: number;
  /** No layer that is shown has anything wrong. */
  sound: boolean;
}) {
  const order = settings.order.value;
  return (
    <div class="bar dist-bar" role="toolbar" aria-label="Distributions">
      <Segments
        label="How histograms are drawn"
        value={settings.mode.value}
        options={settings.MODES}
        onChange={(mode) => (settings.mode.value = mode)}
      />
      {runs.length > 1 ? <Across data={data} runs={runs} /> : null}
      <TextInput
        label="Find layers"
        placeholder="Find layers"
        icon={<SearchIcon size={14} />}
        value={settings.search.value}
        onInput={(text) => (settings.search.value = text)}
        class="dist-find"
      />
      <span
        class="quiet"
        role="status"
        title={without > 0 ? `${count(without, "run")} without histograms left out` : undefined}
      >
        {shown === data.layers.length ? count(shown, "layer") : `${shown} of ${count(data.layers.length, "layer")}`}
      </span>
      <span title={ORDER_WORDS[order].about}>
        <Select<LayerOrder>
          label="Order of layers"
          value={order}
          options={ORDERS.map((value) => ({ value, label: ORDER_WORDS[value].label }))}
          onChange={(value) => (settings.order.value = value)}
        />
      </span>
      {order === "wrong" && sound && shown > 0 ? <span class="quiet">none dead, saturated or exploding</span> : null}
      <span class="inline gap-2 shrinks">
        <span class="quiet">Range</span>
        <Segments
          label="Range of values"
          value={settings.range.value}
          options={RANGES}
          onChange={(value) => (settings.range.value = value)}
        />
      </span>
      {settings.mode.value === "bands" ? null : (
        <Toggle
          checked={settings.logCounts.value}
          label="Log counts"
          onChange={(on) => (settings.logCounts.value = on)}
        />
      )}
      <span class="spring" />
      <StepSlider data={data} />
    </div>
  );
}

function Across({ data, runs }: { data: Distributions; runs: readonly string[] }) {
  const byRun = settings.across.value === "runs";
  const run = runs.includes(settings.oneRun.value) ? settings.oneRun.value : (runs[0] ?? "");
  const family = data.families.includes(settings.family.value) ? settings.family.value : (data.families[0] ?? "");
  return (
    <span class="inline gap-2 shrinks">
      <Segments
        label="Side by side"
        value={settings.across.value}
        options={[
          { value: "families", label: "One run", about: "Weights, gradients and activations of one run side by side" },
          { value: "runs", label: "All runs", about: "The same quantity of every run side by side" },
        ]}
        onChange={(value) => (settings.across.value = value)}
      />
      {byRun ? (
        <Select
          label="Quantity"
          value={family}
          options={data.families.map((value) => ({ value, label: value }))}
          onChange={(value) => (settings.family.value = value)}
        />
      ) : (
        <>
          <span class="ink" style={inkOfRun(run)} />
          <Select
            label="Run"
            value={run}
            options={runs.map((value) => ({ value, label: visibleText(nameOf(value)) }))}
            onChange={(value) => (settings.oneRun.value = value)}
          />
        </>
      )}
    </span>
  );
}

function StepSlider({ data }: { data: Distributions }) {
  const steps = stepsOf(data.layers);
  if (!steps || steps[0] === steps[1]) return null;
  const now = settings.linkedStep();
  return (
    <span class="inline gap-2 shrinks dist-step">
      <span class="quiet">Step</span>
      <Slider
        label="Step that is marked everywhere"
        value={now ?? steps[1]}
        min={steps[0]}
        max={steps[1]}
        step={1}
        onInput={(value) => (settings.step.value = value)}
      />
      <output class="dist-step-now">{now === null ? "all" : now.toLocaleString("en-US")}</output>
      {now === null ? null : (
        <IconButton label="Mark no step" onClick={() => (settings.step.value = -1)}>
          <CloseIcon size={12} />
        </IconButton>
      )}
    </span>
  );
}
