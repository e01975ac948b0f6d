/** Every recorded difference, ranked by how likely it explains the outcome. */

import { useState } from "preact/hooks";
import { Middle } from "../../components";
import { wordDiff } from "../../lib/compare-words";
import { count, visibleText } from "../../lib/format";
import type { Change } from "../../lib/schema";
import { goTo } from "./section";

const KINDS: Readonly<Record<Change["kind"], { label: string; section: string }>> = {
  finding: { label: "finding", section: "" },
  config: { label: "config", section: "config" },
  code: { label: "code", section: "code" },
  data: { label: "data", section: "" },
  package: { label: "package", section: "environment" },
  machine: { label: "machine", section: "environment" },
  environment: { label: "variable", section: "environment" },
  command: { label: "command", section: "environment" },
};
const LEVELS = { likely: "Likely", possible: "Possible", unlikely: "Unlikely" } as const;
const MOST = 60;

export interface ReasonsProps {
  changes: readonly Change[];
  names: readonly [string, string];
  /** There is an outcome to explain; without one a difference is only that. */
  explain: boolean;
}

export function Reasons({ changes, names, explain }: ReasonsProps) {
  const [all, setAll] = useState(false);
  const telling = changes.filter((change) => change.likely !== "unlikely");
  const rest = changes.length - telling.length;
  const shown = (all || telling.length === 0 ? changes : telling).slice(0, all ? changes.length : MOST);
  if (changes.length === 0) return null;
  return (
    <div class="reasons">
      <h3>{explain ? "What differs, the likeliest reason first" : "What differs, without a visible effect"}</h3>
      <table class="table reason-table">
        <thead>
          <tr>
            {explain ? <th scope="col">How likely</th> : null}
            <th scope="col">What</th>
            {names.map((name) => (
              <th key={name} scope="col" class="isolate" title={name}>
                <Middle text={name} />
              </th>
            ))}
            {explain ? <th scope="col">Why it ranks here</th> : null}
          </tr>
        </thead>
        <tbody>
          {shown.map((change) => (
            <Reason key={`${change.kind} ${change.key} ${change.place}`} change={change} explain={explain} />
          ))}
        </tbody>
      </table>
      {shown.length < changes.length ? (
        <button type="button" class="link compare-note" onClick={() => setAll(true)}>
          {rest > 0
            ? `${count(changes.length - shown.length, "more difference")} that rarely ${changes.length - shown.length === 1 ? "matters" : "matter"}`
            : `${changes.length - shown.length} more`}
        </button>
      ) : null}
      {explain ? (
        <p class="compare-note">
          The order is a rule of thumb based on what usually breaks or fixes training; it proves nothing by itself.
        </p>
      ) : null}
    </div>
  );
}

function Reason({ change, explain }: { change: Change; explain: boolean }) {
  const { label, section } = KINDS[change.kind];
  return (
    <tr data-likely={explain ? change.likely : undefined}>
      {explain ? (
        <td>
          <span class="badge reason-level">{LEVELS[change.likely]}</span>
        </td>
      ) : null}
      <th scope="row">
        <span class="small quiet reason-kind">{label}</span>{" "}
        {section && document.getElementById(`compare-${section}`) ? (
          <button type="button" class="link isolate" onClick={() => goTo(section)}>
            {visibleText(change.key)}
          </button>
        ) : (
          <span class="isolate">{visibleText(change.key)}</span>
        )}
        {change.place ? <code class="block soft isolate reason-place">{visibleText(change.place)}</code> : null}
      </th>
      <Side value={change.a} other={change.b} kind={change.kind} />
      <Side value={change.b} other={change.a} kind={change.kind} />
      {explain ? <td class="soft isolate">{visibleText(change.why)}</td> : null}
    </tr>
  );
}

const LONG = 24;
const CUT = 400;

function Side({ value, other, kind }: { value: string | null; other: string | null; kind: Change["kind"] }) {
  if (value === null)
    return <td class="quiet">{kind === "finding" ? "not found" : kind === "package" ? "not there" : "not set"}</td>;
  if (kind === "finding") return <td data-severity={value}>{value}</td>;
  const shown = value.length > CUT ? `${value.slice(0, CUT)}…` : value;
  if (other === null || Math.max(shown.length, other.length) <= LONG)
    return <td class="isolate mono">{visibleText(shown)}</td>;
  return (
    <td class="isolate mono">
      {wordDiff(shown, other.slice(0, CUT)).map((piece, at) =>
        piece.same ? visibleText(piece.text) : <mark key={at}>{visibleText(piece.text)}</mark>,
      )}
    </td>
  );
}
