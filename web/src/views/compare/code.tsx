/** The code of two runs side by side: what each had changed since its commit, file by file. */

import { useState } from "preact/hooks";
import { Button, copyText } from "../../components";
import { CopyIcon } from "../../components/icons";
import { foldSame } from "../../lib/compare-words";
import { count, visibleText } from "../../lib/format";
import type { CodeFile, CodeLine } from "../../lib/schema";
import { nameOf } from "../../state";
import { useAnswer } from "./answer";
import { Waiting } from "./section";

export function CodeDiff({ a, b }: { a: string; b: string }) {
  const answer = useAnswer("POST /api/compare/code", { a, b }, [a, b]);
  if (!answer.data) return <Waiting answer={answer} />;
  const found = answer.data;
  const names: [string, string] = [visibleText(nameOf(a)), visibleText(nameOf(b))];
  return (
    <div class="vstack gap-3 shrinks" aria-busy={answer.waiting}>
      <p class="isolate">{visibleText(found.words)}</p>
      {found.command ? (
        <p class="hstack wraps gap-2">
          What was committed in between: <code class="isolate">{visibleText(found.command)}</code>
          <Button kind="quiet" onClick={() => void copyText(found.command, "Command copied")}>
            <CopyIcon size={13} /> Copy
          </Button>
        </p>
      ) : null}
      {found.cut.length > 0 ? (
        <p class="compare-note">
          The changes of {found.cut.map((side) => names[side === "a" ? 0 : 1]).join(" and ")} were too long to be kept
          whole.
        </p>
      ) : null}
      {found.files.map((file, index) => (
        <File key={file.path} file={file} names={names} open={index < 6} />
      ))}
      {found.same_files > 0 ? (
        <p class="compare-note">{count(found.same_files, "file")} changed in the same way by both.</p>
      ) : null}
      {found.omitted > 0 ? <p class="compare-note">{count(found.omitted, "more file")} left out.</p> : null}
    </div>
  );
}

function File({ file, names, open }: { file: CodeFile; names: readonly [string, string]; open: boolean }) {
  const whose =
    file.where === "both" ? "changed by both, differently" : `changed only in ${names[file.where === "a" ? 0 : 1]}`;
  return (
    <details class="clipped framed code-file" open={open}>
      <summary>
        <code class="isolate">{visibleText(file.path) || "changes"}</code> <span class="quiet isolate">{whose}</span>
      </summary>
      <table class="full small code-table">
        <thead>
          <tr>
            <th scope="col" class="isolate">
              {names[0]}
            </th>
            <th scope="col" class="isolate">
              {names[1]}
            </th>
          </tr>
        </thead>
        <tbody>
          {foldSame(file.lines).map((part, at) =>
            part.kind === "folded" && part.lines.length > 4 ? (
              <Folded key={at} lines={part.lines} />
            ) : (
              part.lines.map((line, index) => <Line key={`${at} ${index}`} line={line} />)
            ),
          )}
        </tbody>
      </table>
      {file.omitted > 0 ? <p class="compare-note">{count(file.omitted, "more line")} not compared.</p> : null}
    </details>
  );
}

function Folded({ lines }: { lines: readonly CodeLine[] }) {
  const [open, setOpen] = useState(false);
  if (open)
    return (
      <>
        {lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
      </>
    );
  return (
    <tr class="code-folded">
      <td colSpan={2}>
        <button type="button" class="link" onClick={() => setOpen(true)}>
          {count(lines.length, "line")} the same
        </button>
      </td>
    </tr>
  );
}

function Line({ line }: { line: CodeLine }) {
  return (
    <tr data-differs={line.kind === "differs" || undefined}>
      <Half text={line.a} />
      <Half text={line.b} />
    </tr>
  );
}

function Half({ text }: { text: string | null }) {
  if (text === null) return <td class="subtle" />;
  const sign = text.startsWith("@@") ? "@" : text[0] === "+" || text[0] === "-" ? text[0] : " ";
  return (
    <td data-sign={sign} class="isolate">
      {visibleText(text)}
    </td>
  );
}
