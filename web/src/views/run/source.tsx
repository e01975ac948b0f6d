/** Lines of source as they were when the script ran, and prose with code in it. */

import { visibleText } from "../../lib/format";
import type { SourceLine } from "../../lib/schema";

/** Numbered source; under what is marked stands what was seen there. */
export function Lines({ lines, seen }: { lines: readonly SourceLine[]; seen: string }) {
  if (lines.length === 0) return null;
  return (
    <div class="framed subtle mono source" tabIndex={0} role="group" aria-label="Source">
      {lines.map((line) => (
        <div key={line.number} class={line.marked ? "source-line source-hit" : "source-line"}>
          <span class="line-number">{line.number}</span>
          <span class="source-text isolate">
            {visibleText(line.before)}
            {line.marked ? <mark>{visibleText(line.marked)}</mark> : null}
            {visibleText(line.after)}
          </span>
          {line.marked && seen ? (
            <span class="source-seen">
              <span aria-hidden="true">{visibleText(line.before).replace(/\S/g, " ")}</span>
              <span class="isolate">
                <Prose text={seen} />
              </span>
            </span>
          ) : null}
        </div>
      ))}
    </div>
  );
}

/** Text with its `code` set as code. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((piece, at) => (at % 2 ? <code key={at}>{visibleText(piece)}</code> : visibleText(piece)))}
    </>
  );
}
