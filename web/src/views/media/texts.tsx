/** Logged text: a column for each run, or what changed between two runs or two steps. */

import { useMemo, useState } from "preact/hooks";
import { Select } from "../../components";
import { visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { type DiffLine, diffTexts } from "../../lib/text-diff";
import { TextView } from "../charts/text-view";
import { StepNote } from "./content";
import { useItems } from "./data";
import { useStep } from "./look-place";
import { RunName } from "./run-heads";
import { runName } from "../../twins";

type View = "read" | "runs" | "steps";

export function Texts({ items, step }: { items: readonly MediaItem[]; step: number | null }) {
  const [view, setView] = useState<View>("read");
  const runs = [...new Set(items.map((item) => item.run))];
  return (
    <div class="vstack gap-2 media-together media-texts">
      <div class="hstack wraps gap-2 small together-bar">
        <Select
          label="Text"
          value={view}
          options={[
            { value: "read", label: "Read" },
            ...(runs.length > 1 ? [{ value: "runs" as const, label: "Changes between runs" }] : []),
            { value: "steps", label: "Changes since a step" },
          ]}
          onChange={(value) => setView(value as View)}
        />
        {view === "runs" ? <span class="quiet">against the first</span> : null}
      </div>
      {view === "read" ? (
        <Columns items={items} step={step} />
      ) : view === "runs" ? (
        <BetweenRuns items={items} />
      ) : (
        <BetweenSteps items={items} />
      )}
    </div>
  );
}

function Columns({ items, step }: { items: readonly MediaItem[]; step: number | null }) {
  return (
    <div class="text-columns">
      {items.map((item) => (
        <article key={`${item.run} ${item.index}`} class="vstack px-3 py-2 shrinks framed raised text-column">
          <header>
            <RunName run={item.run} />
            <StepNote items={[item]} step={step} />
          </header>
          {item.text === null ? (
            <p class="small quiet media-none">{item.error ?? "This text is too long to show here."}</p>
          ) : (
            <TextView item={item} />
          )}
        </article>
      ))}
    </div>
  );
}

function BetweenRuns({ items }: { items: readonly MediaItem[] }) {
  const [base, ...others] = items.filter((item) => item.index === 0);
  if (!base) return null;
  return (
    <div class="text-columns">
      {others.map((item) => (
        <article key={item.run} class="vstack px-3 py-2 shrinks framed raised text-column">
          <header>
            <RunName run={item.run} /> <span class="quiet">against {runName(base.run)}</span>
          </header>
          <Diff before={base.text ?? ""} after={item.text ?? ""} />
        </article>
      ))}
    </div>
  );
}

/** Each run's text against its own at an earlier step. */
function BetweenSteps({ items }: { items: readonly MediaItem[] }) {
  const runs = [...new Set(items.map((item) => item.run))];
  const key = items[0]?.key ?? "";
  const now = useItems(runs, key, useStep().value, true);
  const steps = [...new Set(now.data?.steps.flatMap((one) => one.steps))].sort((a, b) => a - b);
  const [chosen, setChosen] = useState<number | null>(null);
  const since = chosen ?? steps[0] ?? 0;
  const then = useItems(runs, key, since, true);
  return (
    <>
      <Select
        label="Since"
        value={String(since)}
        options={steps
          .slice(0, 500)
          .map((step) => ({ value: String(step), label: `since step ${step.toLocaleString("en-US")}` }))}
        onChange={(value) => setChosen(Number(value))}
      />
      <div class="text-columns">
        {items
          .filter((item) => item.index === 0)
          .map((item) => {
            const old = then.data?.items.find((one) => one.run === item.run && one.index === 0);
            return (
              <article key={item.run} class="vstack px-3 py-2 shrinks framed raised text-column">
                <header>
                  <RunName run={item.run} />
                  <span class="quiet">
                    step {old?.step.toLocaleString("en-US") ?? "–"} → {item.step.toLocaleString("en-US")}
                  </span>
                </header>
                {old ? (
                  <Diff before={old.text ?? ""} after={item.text ?? ""} />
                ) : (
                  <p class="small quiet media-none">Nothing was logged at or before that step.</p>
                )}
              </article>
            );
          })}
      </div>
    </>
  );
}

const MOST_LINES = 2000;

function Diff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => diffTexts(before, after), [before, after]);
  if (before === after) return <p class="small quiet media-none">The same.</p>;
  return (
    <pre class="scroll small anywhere text-diff">
      {lines.slice(0, MOST_LINES).map((line, at) => (
        <Line key={at} line={line} />
      ))}
      {lines.length > MOST_LINES ? `… ${lines.length - MOST_LINES} more lines` : null}
    </pre>
  );
}

const SIGNS = { same: " ", gone: "−", new: "+" } as const;
const WORDS = { same: "", gone: "removed: ", new: "added: " } as const;

function Line({ line }: { line: DiffLine }) {
  return (
    <div data-kind={line.kind}>
      <span class="visually-hidden">{WORDS[line.kind]}</span>
      <i aria-hidden="true">{SIGNS[line.kind]}</i>
      {line.pieces.map((piece, at) =>
        piece.kind === "same" ? visibleText(piece.text) : <mark key={at}>{visibleText(piece.text)}</mark>,
      )}
    </div>
  );
}
