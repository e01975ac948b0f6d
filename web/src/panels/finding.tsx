/** What is wrong with the runs: each finding with its source lines, the proof and the fix. */

import { CheckIcon } from "../components/icons";
import { lazily } from "../components/lazily";
import { call } from "../lib/api";
import { count } from "../lib/format";
import type { ReportRun, ShownFinding } from "../lib/schema";
import { type PanelKind, type PanelProps, textOf } from "./panel";
import { Asked } from "./parts/asked";
import { RunName } from "./parts/run-name";
import { standsAlone } from "./parts/standing";

const FindingCard = lazily(() => import("../views/run/findings").then((chunk) => chunk.FindingCard));
const MOST = 20;

interface Found {
  run: ReportRun;
  findings: readonly ShownFinding[];
}

async function ask({ options, runs }: PanelProps, stop: AbortSignal): Promise<Found[]> {
  const [rule, severity] = [textOf(options, "rule"), textOf(options, "severity")];
  const wanted = (one: ShownFinding) =>
    (!rule || one.rule === rule || one.id === rule) && (!severity || one.severity === severity);
  return Promise.all(
    runs.map(async (run) => {
      const answer = await call("POST /api/findings", { run: run.id }, { signal: stop });
      return { run, findings: answer.findings.filter(wanted) };
    }),
  );
}

function Panel(props: PanelProps) {
  const ids = props.runs.map((run) => run.id);
  return (
    <Asked question={JSON.stringify([props.options, ids])} runs={ids} ask={(stop) => ask(props, stop)}>
      {(found) => <Findings found={found.filter((one) => one.findings.length > 0)} runs={ids.length} />}
    </Asked>
  );
}

function Findings({ found, runs }: { found: readonly Found[]; runs: number }) {
  if (found.length === 0) {
    return (
      <p class="hstack gap-2 px-4 py-3 soft framed report-fine">
        <CheckIcon size={14} /> No such finding in {count(runs, "run")}.
      </p>
    );
  }
  const all = found.reduce((sum, one) => sum + one.findings.length, 0);
  let left = MOST;
  return (
    <div class="report-findings">
      {found.map(({ run, findings }) => {
        const shown = findings.slice(0, Math.max(0, left));
        left -= shown.length;
        return shown.length === 0 ? null : (
          <section key={run.id}>
            {runs > 1 ? <RunName run={run} /> : null}
            {shown.map((one) => (
              <FindingCard key={one.id} finding={one} run={run.id} linked={!standsAlone()} />
            ))}
          </section>
        );
      })}
      {all > MOST ? <p class="quiet">{all - MOST} more are on the pages of the runs.</p> : null}
    </div>
  );
}

export default {
  kind: "finding",
  title: "Findings",
  hint: "what is wrong, on which line, with the proof and the fix",
  needs: 1,
  narrow: true,
  fields: [
    {
      name: "severity",
      label: "Only",
      type: "choice",
      choices: [
        { value: "", label: "All" },
        { value: "error", label: "Errors" },
        { value: "warning", label: "Warnings" },
        { value: "info", label: "Worth knowing" },
      ],
    },
    { name: "rule", label: "Only this rule", type: "text", hint: "opt.no-zero-grad" },
  ],
  Panel,
} satisfies PanelKind;
