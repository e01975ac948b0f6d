/** The last lines that a run printed, or those with a word. */

import { call } from "../lib/api";
import { stripAnsi } from "../lib/ansi";
import { visibleText } from "../lib/format";
import type { ReportRun } from "../lib/schema";
import { numberOf, type PanelKind, type PanelProps, textOf } from "./panel";
import { Asked } from "./parts/asked";
import { RunName } from "./parts/run-name";

const LINES = 40;

function Panel({ options, runs }: PanelProps) {
  return (
    <>
      {runs.map((run) => (
        <Printed
          key={run.id}
          run={run}
          named={runs.length > 1}
          most={numberOf(options, "lines") ?? LINES}
          find={textOf(options, "find")}
        />
      ))}
    </>
  );
}

function Printed({ run, named, most, find }: { run: ReportRun; named: boolean; most: number; find: string }) {
  const request = { run: run.id, start: -most, count: most, search: find, only: find !== "" };
  return (
    <Asked
      question={JSON.stringify(request)}
      runs={[run.id]}
      ask={(stop) => call("POST /api/console", request, { signal: stop })}
    >
      {(found) => (
        <div class="report-console">
          {named ? <RunName run={run} /> : null}
          {found.lines.length === 0 ? (
            <p class="quiet">{find ? "No line matches." : "Nothing was printed."}</p>
          ) : (
            <pre class="code-box" tabIndex={0} role="region" aria-label="Console">
              {found.lines.map((line) => (
                <span
                  key={line.number}
                  data-stderr={line.stderr || undefined}
                >{`${visibleText(stripAnsi(line.text))}\n`}</span>
              ))}
            </pre>
          )}
        </div>
      )}
    </Asked>
  );
}

export default {
  kind: "console",
  title: "Console",
  hint: "the last lines that the script printed",
  needs: 1,
  fields: [
    { name: "lines", label: "Lines", type: "number", hint: String(LINES) },
    { name: "find", label: "Only lines with", type: "text" },
  ],
  Panel,
} satisfies PanelKind;
