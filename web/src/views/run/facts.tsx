/** What a run was made from: command, code, machine, packages. */

import { formatBytes, visibleText } from "../../lib/format";
import type { GitState, RunDetail } from "../../lib/schema";
import { Code, Pairs, Section } from "./parts";

export function Command({ run }: { run: RunDetail }) {
  const { cwd } = run.environment;
  if (run.command.length === 0) return null;
  const line = run.command.map(shellWord).join(" ");
  return (
    <Section title="Command">
      <Code text={line} label="Command" />
      {cwd ? <p class="card-line mono isolate">in {visibleText(cwd)}</p> : null}
    </Section>
  );
}

/** One word of a command line as a shell reads it, so that the copied line runs. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

export function Git({ git }: { git: GitState | null }) {
  if (!git) return null;
  return (
    <Section title="Code" aside={git.dirty ? <span class="note-warn">uncommitted changes</span> : null}>
      <dl class="pairs">
        <div>
          <dt>commit</dt>
          <dd class="mono">{visibleText(git.commit.slice(0, 12))}</dd>
        </div>
        {git.branch ? (
          <div>
            <dt>branch</dt>
            <dd class="isolate">{visibleText(git.branch)}</dd>
          </div>
        ) : null}
        {git.remote ? (
          <div>
            <dt>remote</dt>
            <dd class="isolate">{visibleText(git.remote)}</dd>
          </div>
        ) : null}
      </dl>
      {git.diff ? (
        <details class="card-more">
          <summary>Changes that were not committed{git.diff_truncated ? " (cut)" : ""}</summary>
          <Code text={git.diff} label="Diff" tall />
        </details>
      ) : null}
    </Section>
  );
}

export function Environment({ run }: { run: RunDetail }) {
  const { environment } = run;
  const machine: [string, unknown][] = [
    ["host", environment.host],
    ["user", environment.user],
    ["platform", environment.platform],
    ["python", environment.python],
    ["stepscope", environment.stepscope],
    ...Object.entries(environment.hardware).map(([key, value]): [string, unknown] => [
      key.replace(/_bytes$/, ""),
      hardwareWords(key, value),
    ]),
    ...Object.entries(environment.env),
  ];
  const packages = Object.entries(environment.packages);
  return (
    <>
      <Pairs title="Machine" pairs={machine.filter(([, value]) => value !== "" && value !== null)} />
      <Pairs title="Packages" pairs={packages} />
    </>
  );
}

function hardwareWords(key: string, value: unknown): unknown {
  if (key.endsWith("_bytes") && typeof value === "number") return formatBytes(value);
  if (!Array.isArray(value)) return value;
  return value
    .map((one: unknown) =>
      isNamed(one)
        ? `${one.name}${one.memory_bytes ? ` (${formatBytes(one.memory_bytes)})` : ""}`
        : JSON.stringify(one),
    )
    .join(", ");
}

function isNamed(value: unknown): value is { name: string; memory_bytes?: number } {
  return typeof value === "object" && value !== null && "name" in value;
}
