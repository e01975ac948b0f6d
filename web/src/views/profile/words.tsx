/** What stands under every answer: the checks it passed, and what a reader must know. */

import { CheckIcon, WarningIcon } from "../../components/icons";
import { typeset, visibleText } from "../../lib/format";
import { exactUnit, formatUnit } from "../../lib/profile-format";
import type { Check } from "../../lib/schema";

/** Two ways to the same number: a quiet tick when they agree, both numbers when they do not. */
export function Checks({ checks }: { checks: readonly Check[] }) {
  if (checks.length === 0) return null;
  return (
    <ul class="wraps small quiet profile-checks" aria-label="Checks">
      {checks.map((check) => (
        <li key={check.name} data-ok={check.ok ?? true} title={tellCheck(check)}>
          {(check.ok ?? true) ? <CheckIcon size={12} /> : <WarningIcon size={12} />}
          <span class="isolate">{visibleText(check.name)}</span>
          {(check.ok ?? true) ? null : (
            <span class="isolate">
              {formatUnit(check.got, check.unit ?? "ns")}, expected {formatUnit(check.expected, check.unit ?? "ns")}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function tellCheck({ got, expected, unit = "ns", detail }: Check): string {
  const numbers = `${exactUnit(got, unit)} one way, ${exactUnit(expected, unit)} the other`;
  return visibleText(detail ? `${numbers}\n${detail}` : numbers);
}

export function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul class="vstack wraps small quiet profile-notes">
      {notes.map((note) => (
        <li key={note} class="isolate">
          <Prose text={note} />
        </li>
      ))}
    </ul>
  );
}

/** Text with its `code` set as code. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text
        .split("`")
        .map((piece, at) => (at % 2 ? <code key={at}>{visibleText(piece)}</code> : visibleText(typeset(piece))))}
    </>
  );
}
