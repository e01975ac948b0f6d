/** *What changed*: the run that works beside the one that does not, in one view, the likeliest reasons first. */

import { useEffect, useState } from "preact/hooks";
import { IconButton, Middle, Select } from "../../components";
import { SwapIcon } from "./icons";
import { type Look, swatch } from "../../lib/colour";
import { count, cutMiddle, visibleText } from "../../lib/format";
import type { WhatChanged as Found } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { Prose } from "../profile/words";
import { useAnswer } from "./answer";
import { labelOf, useColours } from "./column-name";
import { PartingCard } from "./parting";
import { Reasons } from "./reasons";
import { Waiting } from "./section";

export interface WhatChangedProps {
  runs: readonly string[];
  by?: readonly string[];
  /** The column that works; "" to have the best one chosen. */
  works?: string;
  broken?: string;
  /** Without this the two cannot be changed. */
  onPair?(works: string, broken: string): void;
  /** Told which two it is about. */
  onFound?(works: string, broken: string): void;
}

const MOST_CURVES = 4;

export function WhatChanged({ runs, by = [], works = "", broken = "", onPair, onFound }: WhatChangedProps) {
  const answer = useAnswer(
    "POST /api/compare/changed",
    { runs: [...runs], by: [...by], a: works || null, b: broken || null },
    runs,
  );
  const colours = useColours(answer.data?.compared);
  useEffect(() => {
    if (answer.data) onFound?.(answer.data.a, answer.data.b);
  }, [answer.data?.a, answer.data?.b]);
  if (!answer.data) return <Waiting answer={answer} height={220} />;
  const found = answer.data;
  if (!found.a || !found.b) return <p class="quiet">Select two runs or groups to see what changed between them.</p>;
  const looks = [found.a, found.b].map((id) => lookOfRun(colours.get(id) ?? id)) as [Look, Look];
  return (
    <div class="changed" aria-busy={answer.waiting}>
      <div class="wraps apart changed-top">
        <div class="vstack gap-4 changed-words">
          <Pair found={found} looks={looks} {...(onPair ? { onPair } : {})} />
          <p class="changed-headline isolate" data-same={!found.differs || undefined}>
            <Prose text={found.headline} />
          </p>
        </div>
        <Outcome found={found} />
      </div>
      <Curves found={found} looks={looks} />
      <Reasons
        changes={found.changes}
        explain={found.differs}
        names={[nameIn(found, found.a), nameIn(found, found.b)]}
      />
      <div class="compare-note">
        {found.same.length > 0 ? (
          <p class="isolate">The same on both sides: {visibleText(sameWords(found.same))}.</p>
        ) : null}
        {found.notes.map((note) => (
          <p key={note} class="isolate">
            {visibleText(note)}
          </p>
        ))}
      </div>
    </div>
  );
}

const MOST_SAME = 12;
const sameWords = (same: readonly string[]): string =>
  same.slice(0, MOST_SAME).join(", ") + (same.length > MOST_SAME ? ` and ${same.length - MOST_SAME} more` : "");

function nameIn(found: Found, id: string): string {
  const column = found.compared.columns.find((one) => one.id === id);
  return column ? labelOf(column) : "";
}

function Pair({
  found,
  looks,
  onPair,
}: {
  found: Found;
  looks: readonly [Look, Look];
  onPair?(works: string, broken: string): void;
}) {
  const options = found.compared.columns.map((column) => ({ value: column.id, label: cutMiddle(labelOf(column), 32) }));
  const side = (label: string, id: string, look: Look, pick: (id: string) => void) => (
    <span class="inline gap-2 changed-side">
      <span class="ink" style={{ background: swatch(look) }} />
      <span class="quiet">{label}</span>
      {onPair ? (
        <Select label={label} value={id} options={options} onChange={pick} />
      ) : (
        <b class="isolate">{nameIn(found, id)}</b>
      )}
    </span>
  );
  return (
    <div class="hstack wraps changed-pair">
      {side(found.labels[0] ?? "", found.a, looks[0], (id) => onPair?.(id, id === found.b ? found.a : found.b))}
      {onPair ? (
        <IconButton label="Swap the two sides" onClick={() => onPair(found.b, found.a)}>
          <SwapIcon size={14} />
        </IconButton>
      ) : null}
      {side(found.labels[1] ?? "", found.b, looks[1], (id) => onPair?.(id === found.a ? found.b : found.a, id))}
      {found.picked ? <span class="quiet isolate">Picked for you: {visibleText(found.picked)}.</span> : null}
    </div>
  );
}

function Outcome({ found }: { found: Found }) {
  return (
    <div class="anchor scroll framed fact-scroll">
      <table class="fact-table outcome-table">
        <thead>
          <tr>
            <th scope="col">Outcome</th>
            {[found.a, found.b].map((id) => (
              <th key={id} scope="col" class="isolate" title={nameIn(found, id)}>
                <Middle text={nameIn(found, id)} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.outcome.map((row) => (
            <tr key={row.label} data-same={row.a === row.b || undefined}>
              <th scope="row" class="isolate">
                {visibleText(row.label)}
              </th>
              <td class="isolate">{visibleText(row.a)}</td>
              <td
                class="isolate"
                data-differs={(found.differs && row.label !== "duration" && row.a !== row.b) || undefined}
              >
                {visibleText(row.b)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Where the curves part, the earliest first. */
function Curves({ found, looks }: { found: Found; looks: readonly [Look, Look] }) {
  const [all, setAll] = useState(false);
  if (found.partings.length === 0)
    return <p class="quiet">The two share no metric over the same steps, so there are no curves to compare.</p>;
  const shown = all ? found.partings : found.partings.slice(0, MOST_CURVES);
  const noise =
    found.partings[0]?.noise_from === "seeds"
      ? "the spread over seeds"
      : "how much each curve jumps from point to point";
  return (
    <div class="partings">
      <h3>{found.differs ? "Where the curves diverge" : "The curves, side by side"}</h3>
      <div class="parting-grid">
        {shown.map((one) => (
          <PartingCard key={one.key} parting={one} looks={looks} />
        ))}
      </div>
      <p class="compare-note">
        Two curves diverge when they stay more than 4 times the noise apart; the noise is {noise}.{" "}
        {found.partings.length > shown.length ? (
          <button type="button" class="link" onClick={() => setAll(true)}>
            {count(found.partings.length - shown.length, "more metric")}
          </button>
        ) : null}
      </p>
    </div>
  );
}
