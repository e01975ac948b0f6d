/** How a run went: the error that ended it, alerts, metrics, attempts, and what could not be kept. */

import type { JSX } from "preact";
import { StatusDot } from "../../components";
import { WarningIcon } from "../../components/icons";
import { count, exactNumber, formatBytes, formatCell, formatDuration, formatTime, visibleText } from "../../lib/format";
import type { Cell, RunDetail, SummaryValue } from "../../lib/schema";
import { Code, Section } from "./parts";

export function Failure({ run }: { run: RunDetail }) {
  if (!run.error && !run.traceback) return null;
  return (
    <section class="card card-bad" aria-label="Error">
      <header class="card-head">
        <WarningIcon size={16} />
        <h2 class="isolate">{visibleText(run.error ?? "It ended with an exception")}</h2>
        {run.exit_code !== null ? <span class="quiet">exit code {run.exit_code}</span> : null}
      </header>
      {run.traceback ? <Code text={run.traceback} label="Traceback" tall /> : null}
    </section>
  );
}

/** What could not be recorded is said, never hidden. */
export function Losses({ run }: { run: RunDetail }) {
  const lines = [
    ...(run.dropped > 0
      ? [
          `${count(run.dropped, "value")} could not be recorded${run.dropped_reasons.length ? `: ${run.dropped_reasons.join("; ")}` : ""}`,
        ]
      : []),
    ...(run.holes > 0
      ? [`${count(run.holes, "stretch", "stretches")} of its files cannot be read; the rest is whole`]
      : []),
    ...run.faults.map((fault) => `A fault inside Stepscope while recording: ${fault}`),
  ];
  if (lines.length === 0) return null;
  return (
    <section class="card card-warn" aria-label="What could not be recorded">
      {lines.map((line) => (
        <p key={line} class="isolate">
          {visibleText(line)}
        </p>
      ))}
    </section>
  );
}

export function Alerts({ run }: { run: RunDetail }) {
  if (run.alerts.length === 0) return null;
  return (
    <Section title="Alerts" aside={<span class="quiet">{run.alerts.length}</span>}>
      {run.alerts.map((alert, at) => (
        <article key={at} class="finding" data-level={alert.level ?? "warning"}>
          <header>
            <strong class="isolate">{visibleText(alert.title)}</strong>
            <span class="quiet">
              {alert.step !== null && alert.step !== undefined ? `step ${alert.step.toLocaleString("en-US")} · ` : ""}
              {formatTime(alert.time)}
            </span>
          </header>
          {alert.text ? <p class="isolate">{visibleText(alert.text)}</p> : null}
        </article>
      ))}
    </Section>
  );
}

export function Summary({ values }: { values: readonly SummaryValue[] }) {
  if (values.length === 0) {
    return (
      <Section title="Metrics">
        <p class="card-none">Nothing was logged yet.</p>
      </Section>
    );
  }
  const own = values.filter((value) => !value.key.startsWith("system/"));
  const system = values.filter((value) => value.key.startsWith("system/"));
  return (
    <Section title="Metrics" aside={<span class="quiet">{own.length}</span>}>
      <MetricTable values={own} />
      {system.length > 0 ? (
        <details class="card-more">
          <summary>System metrics ({system.length})</summary>
          <MetricTable values={system} />
        </details>
      ) : null}
    </Section>
  );
}

function MetricTable({ values }: { values: readonly SummaryValue[] }) {
  return (
    <div class="metric-scroll">
      <table class="metrics">
        <thead>
          <tr>
            <th scope="col">Name</th>
            {["Last", "Min", "Max", "Mean", "Points"].map((head) => (
              <th key={head} scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {values.map((value) => (
            <tr key={value.key}>
              <th scope="row" class="isolate ellipsis" title={visibleText(value.key)}>
                {visibleText(value.key)}
              </th>
              <Number value={value.last} />
              <Number value={value.min} />
              <Number value={value.max} />
              <Number value={value.mean} />
              <td class="number">
                {value.points.toLocaleString("en-US")}
                {value.nonfinite > 0 ? (
                  <span class="cell-odd" title={`${value.nonfinite.toLocaleString("en-US")} of them NaN or infinite`}>
                    {" "}
                    ({value.nonfinite.toLocaleString("en-US")} not finite)
                  </span>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Number({ value }: { value: Cell }): JSX.Element {
  const odd = value === "NaN" || value === "Infinity" || value === "-Infinity";
  return (
    <td class={odd ? "number cell-odd" : "number"} title={typeof value === "number" ? exactNumber(value) : undefined}>
      {formatCell(value) || "–"}
    </td>
  );
}

export function Attempts({ run }: { run: RunDetail }) {
  if (run.attempts.length < 2) return null;
  return (
    <Section title="Attempts" aside={<span class="quiet">{run.attempts.length}</span>}>
      <table class="metrics">
        <tbody>
          {run.attempts.map((one) => (
            <tr key={`${one.attempt}.${one.rank}.${one.pid}`}>
              <th scope="row">
                {one.attempt + 1}
                {one.rank > 0 ? ` rank ${one.rank}` : ""}
              </th>
              <td>
                <StatusDot status={one.status} />
              </td>
              <td class="isolate">{visibleText(one.host)}</td>
              <td>{formatTime(one.started)}</td>
              <td class="number">{formatDuration(one.seen - one.started)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

export function Artifacts({ run }: { run: RunDetail }) {
  if (run.artifacts.length === 0) return null;
  return (
    <Section title="Artifacts" aside={<span class="quiet">{run.artifacts.length}</span>}>
      {run.artifacts.map((artifact) => (
        <article key={`${artifact.name}.${artifact.version}`} class="finding">
          <header>
            <strong class="isolate">
              {visibleText(artifact.name)} <span class="quiet">v{artifact.version}</span>
            </strong>
            <span class="quiet">{count(artifact.files?.length ?? 0, "file")}</span>
          </header>
          {artifact.files?.slice(0, 20).map((file) => (
            <p key={file.path} class="mono isolate">
              {visibleText(file.path)} <span class="quiet">{formatBytes(file.size)}</span>
            </p>
          ))}
        </article>
      ))}
    </Section>
  );
}
