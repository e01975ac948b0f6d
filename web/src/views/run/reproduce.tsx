/** How to make the run again: the command, and all that has to be right around it. */

import { Button, copyText } from "../../components";
import { CopyIcon, DownloadIcon } from "../../components/icons";
import { fileName, saveText } from "../../charts/download";
import { visibleText } from "../../lib/format";
import { commandLine, reproduceCommands } from "../../lib/reproduce";
import type { RunDetail } from "../../lib/schema";
import { Code, Section } from "./pieces";

export const diffName = (run: RunDetail) => fileName(run.name || run.id, "diff");

export function Reproduce({ run }: { run: RunDetail }) {
  const { cwd } = run.environment;
  if (run.command.length === 0) {
    return (
      <Section title="Reproduce">
        <p class="anywhere quiet card-none">The command was not recorded: the run was not started from a script.</p>
      </Section>
    );
  }
  const commands = reproduceCommands(run, diffName(run));
  return (
    <Section title="Reproduce">
      <Code text={commandLine(run.command)} label="Command" />
      {cwd ? (
        <p class="card-line">
          in <span class="mono isolate">{visibleText(cwd)}</span>
        </p>
      ) : null}
      <div class="wraps gap-2 card-actions">
        <Button onClick={() => void copyText(commands, "Commands copied")} title={whatIsCopied(run)}>
          <CopyIcon size={13} /> Copy commands to reproduce
        </Button>
        {run.git?.diff ? (
          <Button
            kind="quiet"
            onClick={() => saveText(run.git?.diff ?? "", "text/x-diff", diffName(run))}
            title="The changes that were not committed, for git apply"
          >
            <DownloadIcon size={13} /> Diff
          </Button>
        ) : null}
      </div>
      <details class="card-more">
        <summary>All commands</summary>
        <Code text={commands} label="Commands to reproduce" tall />
      </details>
    </Section>
  );
}

function whatIsCopied(run: RunDetail): string {
  const parts = [
    "the folder",
    run.git ? "git checkout" : "",
    run.git?.diff ? "git apply of the changes" : "",
    "variables",
    "the command",
  ];
  return `Copies, one line each: ${parts.filter(Boolean).join(", ")}`;
}
