/** Two recordings side by side: which op's output changed most between them. */

import { EmptyState, ErrorState, Lesson, Lessons, Select, Skeleton } from "../../../components";
import { ChartIcon } from "../../../components/icons";
import { Segments } from "../../../components/segments";
import { count, formatNumber, visibleText } from "../../../lib/format";
import type { OpChange, RecordedStep } from "../../../lib/schema";
import { useAnswer } from "../answer";
import type { Recording } from "./data";
import { ModuleName, Values } from "./pieces";
import * as settings from "./settings";

const PARTS: readonly { value: settings.ComparePart; label: string }[] = [
  { value: "forward", label: "Forward" },
  { value: "backward", label: "Backward" },
  { value: "optimizer", label: "Optimizer" },
  { value: "", label: "All" },
];

export const idOf = (one: { step: number; key: string }) => `${one.step}:${one.key}`;

export function Compare({ recording, steps }: { recording: Recording; steps: readonly RecordedStep[] }) {
  const others = steps.filter((one) => idOf(one) !== idOf(recording));
  const before =
    others.find((one) => idOf(one) === settings.before.value) ??
    [...others].reverse().find((one) => one.step < recording.step) ??
    others[others.length - 1];
  if (!before) {
    return (
      <EmptyState title="There is only one recording" icon={ChartIcon}>
        <p>With two, this shows which op's output changed most from one step to the other.</p>
        <Lessons>
          <Lesson
            title="Record another step"
            text={
              'with stepscope.record(model, stats=True) as step:\n    loss = train_step(batch)\nrun.log({"recording": step})'
            }
          />
        </Lessons>
      </EmptyState>
    );
  }
  return <Changes recording={recording} before={before} others={others} />;
}

function Changes({
  recording,
  before,
  others,
}: {
  recording: Recording;
  before: RecordedStep;
  others: readonly RecordedStep[];
}) {
  const asked = { ...recording, before_key: before.key, before_step: before.step, part: settings.comparePart.value };
  const { answer, fault, waiting, again } = useAnswer("POST /api/step/compare", asked);
  return (
    <div class="page">
      <div class="hstack wraps rigid step-costs-bar">
        <span>Step {recording.step.toLocaleString("en-US")} after</span>
        <Select
          label="Compare with"
          value={idOf(before)}
          options={[...others]
            .reverse()
            .map((one) => ({ value: idOf(one), label: `step ${one.step.toLocaleString("en-US")}` }))}
          onChange={(value) => (settings.before.value = value)}
        />
        <Segments
          label="Part of the step"
          value={settings.comparePart.value}
          options={PARTS}
          onChange={(value) => (settings.comparePart.value = value)}
        />
        {answer ? (
          <span class="quiet">
            {count(answer.compared, "op")} compared
            {answer.only_before || answer.only_after
              ? `, ${answer.only_before} only before, ${answer.only_after} only after`
              : ""}
          </span>
        ) : null}
      </div>
      <p class="step-method quiet">
        The largest change first: by how many standard deviations the mean of an output moved, or how often its standard
        deviation doubled or halved, whichever is more.
      </p>
      {fault ? <ErrorState error={fault} onRetry={again} /> : null}
      {!answer || waiting ? (
        fault ? null : (
          <Skeleton height={120} />
        )
      ) : answer.note ? (
        <p class="none">{answer.note}</p>
      ) : answer.changes.length === 0 ? (
        <p class="none">No output changed.</p>
      ) : (
        <ChangeTable changes={answer.changes} />
      )}
    </div>
  );
}

function ChangeTable({ changes }: { changes: readonly OpChange[] }) {
  const largest = changes.reduce((most, one) => Math.max(most, one.amount ?? 0), 0);
  return (
    <div class="fill-down scroll over step-change-table" role="grid" aria-label="Changes" tabIndex={0}>
      <div class="rows-head step-change-row step-head" role="row">
        {["#", "Op", "Module", "Before", "After", "Change"].map((label) => (
          <span key={label} role="columnheader" class={label === "#" ? "number" : undefined}>
            {label}
          </span>
        ))}
      </div>
      {changes.map((one) => (
        <div
          key={one.row.index}
          class="step-change-row"
          role="row"
          data-bad={one.amount === null || undefined}
          onClick={() => settings.showOp(one.row.index)}
        >
          <span role="gridcell" class="number quiet">
            {one.row.index}
          </span>
          <span role="gridcell">
            <button type="button" class="link isolate" onClick={() => settings.showOp(one.row.index)}>
              {visibleText(one.row.name)}
            </button>
          </span>
          <span role="gridcell" class="ellipsis">
            <ModuleName path={one.row.module} phase={one.row.phase} />
          </span>
          <span role="gridcell">
            <Values stats={one.before} />
          </span>
          <span role="gridcell">
            <Values stats={one.after} />
          </span>
          <span
            role="gridcell"
            class="amount small step-change"
            title={one.amount === null ? undefined : formatNumber(one.amount, 3)}
          >
            <span
              class="amount-bar"
              style={{ transform: `scaleX(${one.amount === null ? 1 : largest > 0 ? one.amount / largest : 0})` }}
            />
            <span class="isolate">{visibleText(one.said)}</span>
          </span>
        </div>
      ))}
    </div>
  );
}
