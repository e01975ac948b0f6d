/** The verdict: what training is bound by, and what to change, the largest saving first. */

import { useEffect, useState } from "preact/hooks";
import { Button, copyText, ErrorState, Skeleton } from "../../components";
import { CheckIcon, CopyIcon } from "../../components/icons";
import { call, isAbort } from "../../lib/api";
import { typeset, visibleText } from "../../lib/format";
import { adviceMarkdown } from "../../lib/profile-advice";
import { formatFactor, formatNs, formatShare } from "../../lib/profile-format";
import type { ProfileAdvice, ShownAdvice } from "../../lib/schema";
import { FindingCard } from "../run/findings";
import "../../style/cards.css";
import { type Spot, spotKey } from "./data";
import { Notes } from "./words";

const kept = new Map<string, ProfileAdvice>();

export interface AskedAdvice {
  advice: ProfileAdvice | null;
  fault: unknown;
}

export function useAdvice(spot: Spot): AskedAdvice {
  const key = spotKey(spot);
  const [state, setState] = useState<AskedAdvice & { key: string }>({ key: "", advice: null, fault: null });
  useEffect(() => {
    const control = new AbortController();
    call("POST /api/profile/advice", { ...spot }, { signal: control.signal }).then(
      (advice) => {
        if (kept.size > 20) kept.clear();
        kept.set(key, advice);
        setState({ key, advice, fault: null });
      },
      (fault: unknown) => isAbort(fault) || setState({ key, advice: null, fault }),
    );
    return () => control.abort();
  }, [key]);
  const here = kept.get(key);
  if (here) return { advice: here, fault: null };
  return state.key === key ? state : { advice: null, fault: null };
}

export function Headline({ asked: { advice, fault } }: { asked: AskedAdvice }) {
  if (fault) return <ErrorState error={fault} title="No verdict" />;
  if (!advice) return <Skeleton width="60%" height={28} />;
  const then = Math.max(advice.step_ns - advice.saving_ns, advice.step_ns / 20);
  return (
    <header class="verdict" data-kind={advice.kind}>
      <p class="strong anywhere isolate verdict-text">{visibleText(typeset(capital(advice.headline || advice.why)))}</p>
      {advice.saving_ns > 0 ? (
        <p
          class="verdict-gain"
          title="If all of the advice below holds; what two tips share is counted once. Estimated."
        >
          With {advice.advice.length === 1 ? "this" : "all of this"} advice, a step would take about{" "}
          <b>{formatNs(then)}</b> instead of {formatNs(advice.step_ns)} ({formatFactor(advice.step_ns / then)})
        </p>
      ) : null}
    </header>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export function AdviceList({ advice }: { advice: ProfileAdvice | null }) {
  if (!advice) return <Skeleton height={160} />;
  return (
    <section class="card advice" aria-label="Advice">
      <header class="card-head">
        <h2>Advice</h2>
        {advice.advice.length > 0 ? (
          <Button
            kind="quiet"
            title="Copy the headline and the advice as Markdown"
            onClick={() => void copyText(adviceMarkdown(advice), "Copied as Markdown")}
          >
            <CopyIcon size={13} /> Copy
          </Button>
        ) : null}
      </header>
      {advice.advice.map((one, at) => (
        <FindingCard
          key={`${one.finding.rule} ${one.finding.place}`}
          finding={shownFinding(one)}
          number={at + 1}
          gain={<Gain one={one} step={advice.step_ns} />}
        />
      ))}
      {advice.advice.length === 0 && !advice.why ? (
        <p class="hstack gap-2 anywhere quiet card-none advice-none">
          <CheckIcon size={14} /> No known change would save 2% of a step or more.
        </p>
      ) : null}
      <Notes notes={advice.notes} />
    </section>
  );
}

/** Its share of the step stands in the line of the gain; under the source it says what was seen there. */
const shownFinding = ({ finding }: ShownAdvice) => ({
  ...finding,
  message: typeset(finding.message),
  seen: finding.lines.length > 0 ? finding.seen : "",
});

/** How large the part is that it is about, and how much of that would go. */
function Gain({ one, step }: { one: ShownAdvice; step: number }) {
  const saved = step > 0 ? Math.min(1, one.saving_ns / step) : 0;
  const tip = `${formatShare(one.share)} of a step is what this is about; ${formatShare(saved)} of a step would be saved.${one.how ? `\n${one.how}` : ""}`;
  return (
    <p class="hstack wraps gain" title={visibleText(tip)}>
      <span class="rigid anchor clipped gain-bar" aria-hidden="true">
        <span class="gain-share" style={{ transform: `scaleX(${Math.min(1, Math.max(one.share, saved))})` }} />
        <span class="gain-saved" style={{ transform: `scaleX(${saved})` }} />
      </span>
      <b class="isolate">{visibleText(typeset(one.gain))}</b>
      {one.share > 0 ? <span>concerns {formatShare(one.share)} of each step</span> : null}
      {one.how ? <span class="quiet isolate">{visibleText(one.how)}</span> : null}
      {one.shares_with ? <span class="quiet">overlaps with {visibleText(one.shares_with)}</span> : null}
    </p>
  );
}
