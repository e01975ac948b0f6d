/** Above the table: which recording, which ops, which view of them; and what the step was, in a line. */

import { Button, Select, TextInput } from "../../../components";
import { CloseIcon, SearchIcon } from "../../../components/icons";
import { Segments } from "../../../components/segments";
import { count, formatBytes, formatTime, visibleText } from "../../../lib/format";
import { formatCount, formatMicros } from "../../../lib/graph-words";
import type { RecordedStep, StepHead } from "../../../lib/schema";
import { idOf } from "./compare";
import type { OpPages } from "./data";
import * as settings from "./settings";

const VIEWS: readonly { value: settings.StepView; label: string; about: string }[] = [
  { value: "ops", label: "Ops", about: "every operation, in order" },
  { value: "costs", label: "Costs", about: "time, FLOPs and memory summed up" },
  { value: "compare", label: "Compare", about: "what changed since another recording" },
];

export function StepBar({
  steps,
  now,
  head,
}: {
  steps: readonly RecordedStep[];
  now: RecordedStep;
  head: StepHead | null;
}) {
  const label = (one: RecordedStep) =>
    `step ${one.step.toLocaleString("en-US")}${one.key === "recording" || one.key === "step" ? "" : ` · ${visibleText(one.key)}`}`;
  return (
    <div class="bar" role="toolbar" aria-label="Recorded step">
      <Select
        label="Recorded step"
        value={idOf(now)}
        options={[...steps].reverse().map((one) => ({ value: idOf(one), label: label(one) }))}
        onChange={(value) => ((settings.op.value = ""), (settings.recording.value = value))}
      />
      <Segments
        label="Show"
        value={settings.view.value}
        options={VIEWS}
        onChange={(value) => (settings.view.value = value)}
      />
      <span class="spring" />
      {head ? <Summary head={head} /> : null}
    </div>
  );
}

function Summary({ head }: { head: StepHead }) {
  const words = [
    head.model,
    count(head.ops, "op"),
    head.time_us === null ? "" : formatMicros(head.time_us),
    head.flops === null ? "" : `${formatCount(head.flops)} FLOPs`,
    head.saved_bytes ? `${formatBytes(head.saved_bytes)} saved for backward` : "",
    head.device,
    head.torch ? `torch ${head.torch}` : "",
  ];
  const title = [`recorded ${formatTime(head.time)}`, ...head.notes].join("\n");
  return (
    <span class="soft small isolate ellipsis step-summary" title={visibleText(title.replace(/\n/g, " · "))}>
      {words.filter(Boolean).map(visibleText).join("  ·  ")}
    </span>
  );
}

/** The filters of the table of ops. */
export function OpFilterBar({ head, pages }: { head: StepHead; pages: OpPages | null }) {
  const info = pages?.info.value;
  return (
    <div class="hstack wraps rigid step-filters" role="group" aria-label="Filter ops">
      <TextInput
        class="step-search"
        label="Find ops"
        placeholder="Find: name, module, source, arguments"
        title="Words that must all occur; !word must not (/)"
        icon={<SearchIcon size={12} />}
        value={settings.search.value}
        onInput={(text) => (settings.search.value = text)}
      />
      <Select
        label="Phase"
        value={settings.phase.value}
        options={[
          { value: "", label: "All phases" },
          ...head.phases.map((one) => ({
            value: one.name,
            label: `${one.name} (${one.count.toLocaleString("en-US")})`,
          })),
        ]}
        onChange={(value) => (settings.phase.value = value)}
      />
      <Select
        label="Kind of op"
        value={settings.kind.value}
        options={[
          { value: "", label: "All kinds" },
          ...head.kinds.map((one) => ({
            value: one.name,
            label: `${visibleText(one.name)} (${one.count.toLocaleString("en-US")})`,
          })),
        ]}
        onChange={(value) => (settings.kind.value = value)}
      />
      {head.modules.length > 0 ? (
        <Select
          label="Module"
          value={settings.module.value}
          options={[
            { value: "", label: "All modules" },
            ...head.modules.map((path) => ({ value: path, label: visibleText(path) })),
          ]}
          onChange={(value) => (settings.module.value = value)}
        />
      ) : null}
      {head.bad > 0 ? (
        <Button
          kind="quiet"
          class="bad step-only-bad"
          aria-pressed={settings.bad.value}
          onClick={() => (settings.bad.value = !settings.bad.value)}
        >
          Not finite ({head.bad.toLocaleString("en-US")})
        </Button>
      ) : null}
      {settings.isFiltered.value ? (
        <Button kind="quiet" onClick={settings.clearFilters}>
          <CloseIcon size={12} /> Clear
        </Button>
      ) : null}
      <span class="spring" />
      {info ? (
        <span class="small one-line quiet step-sums">
          {settings.isFiltered.value
            ? `${info.total.toLocaleString("en-US")} of ${count(head.ops, "op")}`
            : count(info.total, "op")}
          {info.time_us === null ? "" : ` · ${formatMicros(info.time_us)}`}
          {info.flops === null ? "" : ` · ${formatCount(info.flops)} FLOPs`}
        </span>
      ) : null}
    </div>
  );
}
