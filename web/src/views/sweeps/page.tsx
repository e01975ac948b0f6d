/** The Sweeps page: progress, the best run so far, how it came about, and which settings did well. docs/sweeps.md. */

import { computed } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { now } from "../../clock";
import { Button, EmptyState, ErrorState, Lesson, Lessons, Skeleton } from "../../components";
import { GroupIcon } from "../../components/icons";
import { lazily } from "../../components/lazily";
import { count, formatAge, formatDuration, formatNumber, visibleText } from "../../lib/format";
import type { ParamTable } from "../../lib/param-table";
import type { SweepTrial, SweepView } from "../../lib/schema";
import { groupQuery, sayProgress, sayState, shares } from "../../lib/sweep-view";
import { linkTo } from "../../router";
import "../../style/parameters.css";
import "../../style/parameters-more.css";
import "../../style/sweeps.css";
import { Best } from "../parameters/best";
import { Legend } from "../parameters/legend";
import { ownSettings, ParamScope } from "../parameters/scope";
import * as data from "./data";

const Parallel = lazily<{ scope: ParamScope }>(() => import("../parameters/parallel").then((found) => found.Parallel));

export function SweepsPage() {
  useEffect(() => data.watchSweeps(), []);
  const sweeps = data.sweeps.value;
  if (data.fault.value && !sweeps) return <ErrorState error={data.fault.value} onRetry={() => void data.load()} />;
  if (!sweeps) return <Waiting />;
  const shown = data.shown.value;
  if (!shown) return <NoSweeps />;
  return (
    <div class="sweeps">
      {sweeps.length > 1 ? <SweepList sweeps={sweeps} shown={shown} /> : null}
      <div class="sweep" key={shown.id}>
        {data.problems.value.map((words) => (
          <p key={words} class="sweep-note" role="alert">
            {visibleText(words)}
          </p>
        ))}
        <Head sweep={shown} />
        <Progress sweep={shown} />
        <BestRun sweep={shown} />
        <Charts table={data.table.value} sweep={shown} />
        <Trials sweep={shown} />
      </div>
    </div>
  );
}

function Waiting() {
  return (
    <div class="wait" aria-busy="true">
      <Skeleton width="40%" height={20} />
      <Skeleton width="94%" height={320} />
    </div>
  );
}

function NoSweeps() {
  return (
    <EmptyState title="No sweeps here yet" icon={GroupIcon}>
      <p>A sweep runs one script with many settings. It appears here as soon as it starts.</p>
      <Lessons>
        <Lesson
          title="sweep.yaml"
          text={
            "script: train.py\nmethod: random\nmetric: {name: val_loss, goal: min}\nruns: 30\nparameters:\n  lr: {min: 1e-4, max: 1e-1, log: true}\n  width: [32, 64, 128]"
          }
        />
        <Lesson title="Run it" text="stepscope sweep sweep.yaml" />
      </Lessons>
    </EmptyState>
  );
}

function SweepList({ sweeps, shown }: { sweeps: readonly SweepView[]; shown: SweepView }) {
  return (
    <nav class="sweep-list" aria-label="Sweeps">
      {sweeps.map((one) => (
        <button
          key={one.id}
          type="button"
          aria-current={one.id === shown.id ? "true" : undefined}
          onClick={() => data.show(one)}
        >
          <span class="isolate ellipsis">{visibleText(one.name)}</span>
          <Bar sweep={one} />
          <small>
            {sayState(one)} · {one.results}
            {one.total === null ? "" : ` of ${one.total}`}
          </small>
        </button>
      ))}
    </nav>
  );
}

function Head({ sweep }: { sweep: SweepView }) {
  const facts = [
    sweep.method,
    sweep.metric ? `${sweep.goal === "max" ? "highest" : "lowest"} ${visibleText(sweep.metric)}` : "no metric",
    sweep.workers > 0
      ? count(sweep.workers, sweep.shared ? "worker" : "process", sweep.shared ? "workers" : "processes")
      : null,
    `started ${formatAge(sweep.started, now.value)}`,
    `${formatDuration(sweep.active_s)} of work`,
  ].filter((one) => one !== null);
  return (
    <header class="sweep-head">
      <div class="sweep-title">
        <h1 class="isolate">{visibleText(sweep.name)}</h1>
        <span class="sweep-state" data-state={sweep.state}>
          {sayState(sweep)}
        </span>
        <span class="sweep-space" />
        <PauseButton sweep={sweep} />
        <a
          class="button button-plain"
          href={linkTo("/parameters", { q: groupQuery(sweep.name), metric: sweep.metric ?? "" })}
        >
          Explore parameters
        </a>
      </div>
      <p class="quiet isolate">{facts.join(" · ")}</p>
      {sweep.state === "stopped" ? (
        <p class="sweep-note">
          This sweep is not running. To continue it, run the command that started it: <code>stepscope sweep FILE</code>
        </p>
      ) : null}
    </header>
  );
}

function PauseButton({ sweep }: { sweep: SweepView }) {
  const [busy, setBusy] = useState(false);
  if (sweep.workers === 0 || sweep.state === "done") return null;
  const paused = sweep.state === "paused" || sweep.state === "pausing";
  const change = () => {
    setBusy(true);
    void data.pause(sweep, !paused).finally(() => setBusy(false));
  };
  return (
    <Button
      kind={paused ? "primary" : "plain"}
      disabled={busy || !sweep.can_pause}
      title={
        sweep.can_pause
          ? paused
            ? "Start the next runs"
            : "Finish the current runs and start no others until you resume"
          : "This server is read-only"
      }
      onClick={change}
    >
      {paused ? "Resume" : "Pause"}
    </Button>
  );
}

function Bar({ sweep }: { sweep: SweepView }) {
  return (
    <span class="sweep-bar" role="img" aria-label={sayProgress(sweep)}>
      {shares(sweep).map((one) => (
        <i key={one.state} data-state={one.state} style={{ width: `${100 * one.part}%` }} />
      ))}
    </span>
  );
}

function Progress({ sweep }: { sweep: SweepView }) {
  return (
    <section class="sweep-progress" aria-label="Progress">
      <Bar sweep={sweep} />
      <div class="sweep-legend">
        <b>{sayProgress(sweep)}</b>
        {shares(sweep).map((one) => (
          <span key={one.state} class="sweep-key" data-state={one.state}>
            <i aria-hidden="true" /> {one.runs} {one.state}
          </span>
        ))}
      </div>
    </section>
  );
}

function BestRun({ sweep }: { sweep: SweepView }) {
  const { best } = sweep;
  if (!best || best.value === null) return null;
  return (
    <section class="sweep-best" aria-label="Best so far">
      <div>
        <small>Best {visibleText(sweep.metric ?? "")} so far</small>
        <strong>{formatNumber(best.value)}</strong>
      </div>
      <dl>
        {best.settings.map((one) => (
          <div key={one.name}>
            <dt class="isolate">{visibleText(one.name)}</dt>
            <dd class="isolate">{visibleText(one.value)}</dd>
          </div>
        ))}
      </dl>
      {best.run ? (
        <a class="link" href={linkTo(`/run/${best.run}`)}>
          Open run {best.number}
        </a>
      ) : null}
    </section>
  );
}

/** Those of the Parameters page; brushes stay while runs come in. */
function Charts({ table, sweep }: { table: ParamTable | null; sweep: SweepView }) {
  const scope = useMemo(
    () =>
      new ParamScope(
        computed(() => data.table.value as ParamTable),
        ownSettings(),
      ),
    [sweep.id, table === null],
  );
  if (!table) return <Skeleton width="100%" height={900} />; // As tall as the charts: the table below must not move.
  if (table.size === 0) return <p class="quiet">Charts appear with the first run that logs.</p>;
  if (sweep.metric && table.metricName !== sweep.metric)
    // The server falls back to another metric, whose values would be shown as those of the sweep.
    return (
      <p class="quiet">
        Charts appear with the first value of <code class="isolate">{visibleText(sweep.metric)}</code>.
      </p>
    );
  return (
    <div class="sweep-charts">
      {sweep.metric ? (
        <section>
          <h2>Best so far</h2>
          <div class="sweep-chart">
            <Best scope={scope} />
          </div>
        </section>
      ) : null}
      <section>
        <h2>Settings and results</h2>
        <div class="sweep-chart" data-tall>
          <Parallel scope={scope} />
        </div>
        <Legend scope={scope} />
      </section>
    </div>
  );
}

const FEW = 50;

function Trials({ sweep }: { sweep: SweepView }) {
  const [all, setAll] = useState(false);
  const names = sweep.trials[0]?.settings.map((one) => one.name) ?? [];
  const listed = all ? sweep.trials : sweep.trials.slice(0, FEW);
  const numbers = names.map((_, at) => sweep.trials.every((one) => isNumber(one.settings[at]?.value)));
  return (
    <section class="sweep-trials">
      <h2>Runs, newest first</h2>
      <div class="sweep-scroll">
        <table>
          <thead>
            <tr>
              <th>Run</th>
              <th>State</th>
              <th class="number">{visibleText(sweep.metric ?? "Value")}</th>
              {names.map((name, at) => (
                <th key={name} class={cell(numbers[at])}>
                  {visibleText(name)}
                </th>
              ))}
              <th class="number">Time</th>
              <th>Why</th>
            </tr>
          </thead>
          <tbody>
            {listed.map((one) => (
              <Row key={one.number} trial={one} numbers={numbers} isBest={one.number === sweep.best?.number} />
            ))}
          </tbody>
        </table>
      </div>
      {sweep.trials.length > listed.length ? (
        <Button onClick={() => setAll(true)}>Show all {sweep.trials.length}</Button>
      ) : null}
    </section>
  );
}

const isNumber = (value: string | undefined): boolean =>
  value !== undefined && value.trim() !== "" && !Number.isNaN(+value);
const cell = (number: boolean | undefined): string => (number ? "isolate number" : "isolate");

interface RowProps {
  trial: SweepTrial;
  /** Which settings are numbers in all runs. */
  numbers: readonly boolean[];
  isBest: boolean;
}

function Row({ trial, numbers, isBest }: RowProps) {
  const until = trial.ended ?? now.value;
  return (
    <tr data-best={isBest || undefined}>
      <td>
        {trial.run ? (
          <a class="link" href={linkTo(`/run/${trial.run}`)}>
            {trial.number}
          </a>
        ) : (
          trial.number
        )}
      </td>
      <td>
        <span class="sweep-key" data-state={trial.state}>
          <i aria-hidden="true" /> {trial.state}
        </span>
      </td>
      <td class="number">
        {isBest ? <small>best </small> : null}
        {trial.value === null ? "–" : formatNumber(trial.value)}
      </td>
      {trial.settings.map((one, at) => (
        <td key={one.name} class={cell(numbers[at])}>
          {visibleText(one.value)}
        </td>
      ))}
      <td class="number">{trial.started > 0 ? formatDuration(Math.max(0, until - trial.started)) : "–"}</td>
      <td class="quiet isolate sweep-why" title={visibleText(trial.reason)}>
        {visibleText(trial.reason)}
      </td>
    </tr>
  );
}
