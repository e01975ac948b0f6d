/** How a run went: the error that ended it, alerts, attempts, and what could not be kept. */

import { StatusDot } from "../../components";
import { WarningIcon } from "../../components/icons";
import { count, formatBytes, formatDuration, formatTime, visibleText } from "../../lib/format";
import type { RunDetail } from "../../lib/schema";
import { foldTraceback } from "../../lib/traceback";
import { linkToPart } from "./place";
import { Code, Section } from "./pieces";

/** Why it ended, before anything else. */
export function Failure({ run }: { run: RunDetail }) {
  if (!run.error && !run.traceback) return <Gone run={run} />;
  return (
    <section class="card card-bad" aria-label="Error">
      <header class="card-head">
        <WarningIcon size={16} />
        <h2 class="isolate">{visibleText(run.error ?? "It ended with an exception")}</h2>
        {run.exit_code !== null ? <span class="quiet">exit code {run.exit_code}</span> : null}
        <a href={linkToPart(run.id, "console")}>Console</a>
      </header>
      {run.traceback ? <Code text={run.traceback} shown={foldTraceback(run.traceback)} label="Traceback" tall /> : null}
    </section>
  );
}

/** Ended without a word of its own. */
function Gone({ run }: { run: RunDetail }) {
  if (!["killed", "lost", "failed", "preempted"].includes(run.status) || !run.status_detail) return null;
  return (
    <section class="banner card card-warn" data-tone="warn" aria-label="How it ended">
      <p class="isolate">
        <b>{run.status}</b>: {visibleText(run.status_detail)}
      </p>
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
    ...(run.holes > 0 ? [`${count(run.holes, "part")} of its files cannot be read; the rest is intact`] : []),
    ...run.faults.map((fault) => `A fault inside Stepscope while recording: ${fault}`),
  ];
  if (lines.length === 0) return null;
  return (
    <section class="banner card card-warn" data-tone="warn" aria-label="What could not be recorded">
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
  const newest = [...run.alerts].reverse();
  return (
    <Section title="Alerts" aside={<span class="quiet">{run.alerts.length}</span>}>
      <div class="alerts">
        {newest.map((alert, at) => (
          <article key={newest.length - at} class="alert" data-level={alert.level ?? "warning"}>
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
      </div>
    </Section>
  );
}

export function Attempts({ run }: { run: RunDetail }) {
  if (run.attempts.length < 2) return null;
  const resumed = run.attempts.some((one) => one.attempt > 0);
  return (
    <Section title={resumed ? "Attempts" : "Ranks"} aside={<span class="quiet">{run.attempts.length}</span>}>
      <div class="scroll attempts" tabIndex={0} role="group" aria-label="Attempts">
        <table class="table-hover table metrics">
          <thead>
            <tr>
              {[resumed ? "Attempt" : "Rank", "Status", "Host", "Started"].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              <th scope="col" class="number">
                Duration
              </th>
            </tr>
          </thead>
          <tbody>
            {run.attempts.map((one) => (
              <tr key={`${one.attempt}.${one.rank}.${one.pid}`}>
                <th scope="row">
                  {resumed ? `${one.attempt + 1}${one.rank > 0 ? ` · rank ${one.rank}` : ""}` : one.rank}
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
      </div>
    </Section>
  );
}

const MOST_ARTIFACTS = 6;

/** The newest version of each artifact; the Files part has all. */
export function Artifacts({ run }: { run: RunDetail }) {
  if (run.artifacts.length === 0) return null;
  const newest = [...new Map(run.artifacts.map((one) => [one.name, one])).values()].reverse();
  return (
    <Section title="Artifacts" aside={<a href={linkToPart(run.id, "files")}>All files</a>}>
      <ul class="artifacts">
        {newest.slice(0, MOST_ARTIFACTS).map((one) => (
          <li key={one.name}>
            <span class="isolate ellipsis" title={visibleText(one.name)}>
              {visibleText(one.name)}
            </span>
            <span class="quiet">
              v{one.version} · {count(one.files?.length ?? 0, "file")} ·{" "}
              {formatBytes((one.files ?? []).reduce((sum, file) => sum + file.size, 0))}
            </span>
          </li>
        ))}
      </ul>
      {newest.length > MOST_ARTIFACTS ? (
        <p class="anywhere quiet card-none">and {newest.length - MOST_ARTIFACTS} more</p>
      ) : null}
    </Section>
  );
}
