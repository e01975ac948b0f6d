/** One recorded step under the microscope: every op, its values and costs, and where a value first was not finite. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { EmptyState, ErrorState, Lesson, Lessons, Skeleton } from "../../../components";
import { describeKeys } from "../../../components/help";
import { SearchIcon } from "../../../components/icons";
import { useKeys } from "../../../keys";
import { visibleText } from "../../../lib/format";
import type { RecordedStep, RunDetail, StepHead } from "../../../lib/schema";
import "../../../style/findings.css"; // lines of source
import "../../../style/step.css";
import { useAnswer } from "../answer";
import { goPart } from "../place";
import { Births } from "../step/birth";
import { OpFilterBar, StepBar } from "../step/bar";
import { Compare, idOf } from "../step/compare";
import { Costs } from "../step/costs";
import { OpPages, type Recording } from "../step/data";
import { OpDetails } from "../step/details";
import * as settings from "../step/settings";
import { OpTable } from "../step/table";

const RECORD = `with stepscope.record(model, stats=True) as step:
    loss = criterion(model(x), y)
    loss.backward()
run.log({"recording": step})`;

describeKeys("Step", { "/": "find ops", "↑ ↓": "next, previous op", Esc: "close the op" });

export function StepPart({ run }: { run: RunDetail }) {
  useMemo(() => settings.arriveAt(run.id), [run.id]);
  const { answer, fault, again } = useAnswer("POST /api/steps", { run: run.id }, run.version);
  const box = useRef<HTMLDivElement>(null);
  useKeys({
    "/": () => box.current?.querySelector<HTMLInputElement>(".step-search input")?.focus(),
    Escape: () => (settings.op.peek() ? (settings.op.value = "") : goPart("overview")),
  });
  if (!answer) return fault ? <ErrorState error={fault} onRetry={again} /> : <Waiting />;
  const now =
    answer.steps.find((one) => idOf(one) === settings.recording.value) ?? answer.steps[answer.steps.length - 1];
  return (
    <div ref={box} class="page step-part">
      {now ? <Recorded key={`${run.id} ${idOf(now)}`} run={run.id} steps={answer.steps} now={now} /> : <Nothing />}
    </div>
  );
}

function Recorded({ run, steps, now }: { run: string; steps: readonly RecordedStep[]; now: RecordedStep }) {
  const recording: Recording = { run, key: now.key, step: now.step };
  const { answer: head, fault, again } = useAnswer("POST /api/step", recording);
  const pages = useMemo(() => new OpPages(recording), []);
  useEffect(() => () => pages.close(), [pages]);
  useSignalEffect(() => void pages.filter(settings.filters.value));
  if (fault) {
    return (
      <>
        <StepBar steps={steps} now={now} head={null} />
        <ErrorState error={fault} onRetry={again} />
      </>
    );
  }
  return (
    <>
      <StepBar steps={steps} now={now} head={head} />
      {head?.error ? (
        <p class="under banner isolate" data-tone="bad">
          The step ended with {visibleText(head.error)}
        </p>
      ) : null}
      {head && settings.view.value === "ops" ? <Ops head={head} pages={pages} recording={recording} /> : null}
      {head && settings.view.value === "costs" ? <Costs recording={recording} /> : null}
      {head && settings.view.value === "compare" ? <Compare recording={recording} steps={steps} /> : null}
      {head ? null : <Waiting />}
    </>
  );
}

function Ops({ head, pages, recording }: { head: StepHead; pages: OpPages; recording: Recording }) {
  const index = settings.op.value === "" ? null : Number(settings.op.value);
  return (
    <>
      {head.births.length > 0 ? <Births births={head.births} recording={recording} /> : null}
      {head.has_stats ? null : (
        <p class="under banner">
          No tensor statistics were recorded. <code>stepscope.record(model, stats=True)</code> keeps minimum, maximum,
          mean and what is not finite of every tensor.
        </p>
      )}
      <OpFilterBar head={head} pages={pages} />
      {pages.fault.value ? (
        <ErrorState error={pages.fault.value} onRetry={() => void pages.filter(settings.filters.peek())} />
      ) : null}
      <div class="fill-down over step-body">
        <OpTable pages={pages} />
        {index !== null && Number.isInteger(index) ? <OpDetails recording={recording} index={index} /> : null}
      </div>
    </>
  );
}

function Waiting() {
  return (
    <div class="wait" aria-busy="true">
      <Skeleton width="40%" height={20} />
      <Skeleton height={160} />
    </div>
  );
}

function Nothing() {
  return (
    <EmptyState title="No step of this run was recorded" icon={SearchIcon}>
      <p>
        A recording holds every operation of one step: the line and module it came from, the tensors it read and made,
        what they held, and what it cost. The Model page draws the same recording as a graph.
      </p>
      <Lessons>
        <Lesson title="Record a step" text={RECORD} />
        <Lesson
          title="A step that failed under stepscope run, afterwards"
          text="stepscope replay last --save failed.step"
        />
      </Lessons>
    </EmptyState>
  );
}
