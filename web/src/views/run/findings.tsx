/** One finding: its place, the lines of source, the proof in words and drawn, and the way out. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "../../style/findings.css";
import { Button, copyText, IconButton } from "../../components";
import { CopyIcon, LinkIcon } from "../../components/icons";
import { findingMarkdown } from "../../lib/finding-markdown";
import { visibleText } from "../../lib/format";
import type { ShownEdit, ShownFinding } from "../../lib/schema";
import { nameOf } from "../../state";
import { Evidence } from "./evidence";
import { Explanation } from "./explain";
import { bringUp, permalink } from "./place";
import { Lines, Prose } from "./source";

export interface FindingCardProps {
  finding: ShownFinding;
  /** The run's id: its lines are drawn beside the proof, and the finding can be linked to. */
  run?: string;
  /** Advice of a profile adds its number and what it would gain. */
  number?: number;
  gain?: ComponentChildren;
  /** A permalink pointed at it. */
  wanted?: boolean;
  /** Off where there is no app to link into. */
  linked?: boolean;
}

export function FindingCard({ finding, run, number, gain, wanted = false, linked = true }: FindingCardProps) {
  const [explained, setExplained] = useState(false);
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!wanted) return;
    bringUp(card.current);
    card.current?.focus({ preventScroll: true });
  }, [wanted]);
  return (
    <article
      ref={card}
      class="finding"
      data-level={finding.severity}
      data-finding={finding.id || undefined}
      data-wanted={wanted || undefined}
      tabIndex={wanted ? -1 : undefined}
    >
      <header>
        {number === undefined ? null : <span class="finding-number">{number}</span>}
        <strong class="isolate">
          <Prose text={finding.message} />
        </strong>
        <code class="finding-rule isolate">{visibleText(finding.rule)}</code>
      </header>
      <Place finding={finding} />
      <Lines lines={finding.lines} seen={finding.seen} />
      {finding.lines.length === 0 && finding.seen ? (
        <p class="finding-seen isolate">
          <Prose text={finding.seen} />
        </p>
      ) : null}
      {finding.changed ? (
        <p class="note-warn">The file was edited after the script began: these may not be the lines that ran.</p>
      ) : null}
      <Evidence finding={finding} run={run} />
      {finding.fix ? (
        <p class="finding-fix isolate">
          <b>Fix</b> <Prose text={finding.fix} />
        </p>
      ) : null}
      {(finding.edits ?? []).map((edit, at) => (
        <Patch key={at} edit={edit} />
      ))}
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
      <footer class="hstack gap-1 finding-foot">
        <Button kind="quiet" class="finding-more" aria-expanded={explained} onClick={() => setExplained(!explained)}>
          {explained ? "Less" : "Explain"}
        </Button>
        {run && finding.id ? <Share finding={finding} run={run} linked={linked} /> : null}
      </footer>
      {explained ? <Explanation rule={finding.rule} /> : null}
    </article>
  );
}

/** The fix as a small diff. */
function Patch({ edit }: { edit: ShownEdit }) {
  return (
    <div class="finding-edit">
      <pre class="fill code-box isolate">
        {edit.lines.map(([sign, text], at) => (
          <span key={at} data-sign={sign}>
            {sign} {visibleText(text)}
            {"\n"}
          </span>
        ))}
      </pre>
      {edit.label ? <span class="quiet">{visibleText(edit.label)}</span> : null}
      <IconButton label="Copy as a patch" onClick={() => void copyText(`${edit.patch}\n`, "Patch copied")}>
        <CopyIcon size={14} />
      </IconButton>
    </div>
  );
}

function Share({ finding, run, linked }: { finding: ShownFinding; run: string; linked: boolean }) {
  const link = () => (linked ? `${location.href.split("#")[0]}${permalink(run, finding.id)}` : "");
  return (
    <>
      {linked ? (
        <IconButton label="Copy the link to this finding" onClick={() => void copyText(link(), "Link copied")}>
          <LinkIcon size={14} />
        </IconButton>
      ) : null}
      <IconButton
        label="Copy as Markdown"
        onClick={() => void copyText(findingMarkdown(finding, nameOf(run), link()), "Copied as Markdown")}
      >
        <CopyIcon size={14} />
      </IconButton>
    </>
  );
}

function Place({ finding }: { finding: ShownFinding }) {
  if (!finding.place && finding.step === null) return null;
  return (
    <p class="hstack wraps isolate finding-place">
      {finding.place ? (
        <>
          <span class="mono">{visibleText(finding.place)}</span>
          <IconButton label="Copy the place" onClick={() => void copyText(finding.place)}>
            <CopyIcon size={12} />
          </IconButton>
        </>
      ) : null}
      {finding.function && finding.function !== "<module>" ? (
        <span class="quiet">
          in <span class="mono">{visibleText(finding.function)}</span>
        </span>
      ) : null}
      {finding.step !== null ? <span class="quiet">step {finding.step.toLocaleString("en-US")}</span> : null}
    </p>
  );
}
