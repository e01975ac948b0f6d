/** What is wrong with a run: each finding with its place, the lines of source, the proof and the way out. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import "../../style/findings.css";
import { Button, copyText, IconButton } from "../../components";
import { CopyIcon } from "../../components/icons";
import { call, isAbort } from "../../lib/api";
import { count, visibleText } from "../../lib/format";
import type { RuleDetail, Severity, ShownFinding, SourceLine } from "../../lib/schema";
import { Section } from "./parts";

const NOUNS: Record<Severity, [string, string]> = {
  error: ["error", "errors"],
  warning: ["warning", "warnings"],
  info: ["worth knowing", "worth knowing"],
};
const SEVERITIES: readonly Severity[] = ["error", "warning", "info"];

export function Findings({ findings }: { findings: readonly ShownFinding[] }) {
  if (findings.length === 0) return null;
  const of = (severity: Severity) => findings.filter((one) => one.severity === severity);
  const said = SEVERITIES.filter((one) => of(one).length > 0).map((one) => count(of(one).length, ...NOUNS[one]));
  const info = of("info");
  return (
    <Section title="Findings" aside={<span class="quiet">{said.join(" · ")}</span>}>
      {[...of("error"), ...of("warning")].map((one) => (
        <FindingCard key={keyOf(one)} finding={one} />
      ))}
      {info.length > 0 ? (
        <details class="card-more" open={info.length === findings.length}>
          <summary>Worth knowing ({info.length})</summary>
          {info.map((one) => (
            <FindingCard key={keyOf(one)} finding={one} />
          ))}
        </details>
      ) : null}
    </Section>
  );
}

/** A finding is told once per rule and place, so an open explanation stays open while the page renews itself. */
const keyOf = (one: ShownFinding) => `${one.rule} ${one.place} ${one.message}`;

/** One finding; advice of a profile adds its `number` and what it would `gain`. */
export function FindingCard({ finding, number, gain }: { finding: ShownFinding; number?: number; gain?: ComponentChildren }) {
  const [explained, setExplained] = useState(false);
  return (
    <article class="finding" data-level={finding.severity}>
      <header>
        {number === undefined ? null : <span class="finding-number">{number}</span>}
        <strong class="isolate">
          <Prose text={finding.message} />
        </strong>
        <code class="finding-rule isolate">{visibleText(finding.rule)}</code>
      </header>
      <Place finding={finding} />
      <Lines lines={finding.lines} seen={finding.seen} />
      {finding.lines.length === 0 && finding.seen ? <p class="finding-seen isolate">{visibleText(finding.seen)}</p> : null}
      {finding.changed ? (
        <p class="note-warn">The file was edited after the script began: these may not be the lines that ran.</p>
      ) : null}
      {finding.fix ? (
        <p class="finding-fix isolate">
          <b>Fix</b> <Prose text={finding.fix} />
        </p>
      ) : null}
      {gain}
      {finding.related.map((other, at) => (
        <div key={at} class="finding-related">
          <p class="isolate">
            <Prose text={other.label || "related to this place"} />{" "}
            <span class="mono quiet">{visibleText(other.place)}</span>
          </p>
          <Lines lines={other.lines} seen="" />
        </div>
      ))}
      <Button kind="quiet" class="finding-more" aria-expanded={explained} onClick={() => setExplained(!explained)}>
        {explained ? "Less" : "Explain"}
      </Button>
      {explained ? <Explanation rule={finding.rule} /> : null}
    </article>
  );
}

function Place({ finding }: { finding: ShownFinding }) {
  if (!finding.place) return null;
  return (
    <p class="finding-place isolate">
      <span class="mono">{visibleText(finding.place)}</span>
      <IconButton label="Copy the place" onClick={() => void copyText(finding.place)}>
        <CopyIcon size={12} />
      </IconButton>
      {finding.function && finding.function !== "<module>" ? (
        <span class="quiet">
          in <span class="mono">{visibleText(finding.function)}</span>
        </span>
      ) : null}
      {finding.step !== null ? <span class="quiet">step {finding.step.toLocaleString("en-US")}</span> : null}
    </p>
  );
}

/** Numbered source; under what is marked stands what was seen there. */
function Lines({ lines, seen }: { lines: readonly SourceLine[]; seen: string }) {
  if (lines.length === 0) return null;
  return (
    <div class="source mono" tabIndex={0} role="group" aria-label="Source">
      {lines.map((line) => (
        <div key={line.number} class={line.marked ? "source-line source-hit" : "source-line"}>
          <span class="source-number">{line.number}</span>
          <span class="source-text isolate">
            {visibleText(line.before)}
            {line.marked ? <mark>{visibleText(line.marked)}</mark> : null}
            {visibleText(line.after)}
          </span>
          {line.marked && seen ? (
            <span class="source-seen">
              <span aria-hidden="true">{visibleText(line.before).replace(/\S/g, " ")}</span>
              <span class="isolate">{visibleText(seen)}</span>
            </span>
          ) : null}
        </div>
      ))}
    </div>
  );
}

/** Text with its `code` set as code. */
function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((piece, at) => (at % 2 ? <code key={at}>{visibleText(piece)}</code> : visibleText(piece)))}
    </>
  );
}

function Explanation({ rule }: { rule: string }) {
  const [told, setTold] = useState<RuleDetail | null>(null);
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const control = new AbortController();
    call("POST /api/rule", { rule }, { signal: control.signal }).then(setTold, (fault: unknown) => {
      if (!isAbort(fault)) setFailed(fault instanceof Error ? fault.message : String(fault));
    });
    return () => control.abort();
  }, [rule]);
  if (failed) return <p class="finding-explained quiet isolate">{visibleText(failed)}</p>;
  if (!told) return null;
  const parts = [
    ["", told.summary],
    ["", told.about],
    ["Why it matters", told.why],
    ["What to do", told.fix],
    ["How it is found", [told.how, told.asked].filter(Boolean).join(" ")],
  ] as const;
  return (
    <div class="finding-explained">
      {parts.map(([title, body]) =>
        body ? (
          <p key={body} class="isolate">
            {title ? <b>{title}</b> : null} <Prose text={body} />
          </p>
        ) : null,
      )}
      <div class="finding-examples">
        <Example title="Bad" code={told.bad} />
        <Example title="Good" code={told.good} />
      </div>
    </div>
  );
}

function Example({ title, code }: { title: string; code: string }) {
  if (!code) return null;
  return (
    <figure data-kind={title}>
      <figcaption>{title}</figcaption>
      <pre class="isolate" tabIndex={0}>
        {visibleText(code)}
      </pre>
    </figure>
  );
}

