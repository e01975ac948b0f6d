/** All findings of a run: the gravest first, filtered by how grave they are and by rule. */

import { useState } from "preact/hooks";
import { Button, EmptyState, Lesson, Lessons, Select } from "../../../components";
import { CheckIcon } from "../../../components/icons";
import { count, visibleText } from "../../../lib/format";
import type { RunDetail, Severity, ShownFinding } from "../../../lib/schema";
import { cut } from "../../../lib/graph-words";
import { FindingCard } from "../findings";
import { wantedFinding } from "../place";

const NOUNS: Record<Severity, [string, string]> = {
  error: ["error", "errors"],
  warning: ["warning", "warnings"],
  info: ["worth knowing", "worth knowing"],
};
const SEVERITIES: readonly Severity[] = ["error", "warning", "info"];

/** More cards than this are drawn when they are asked for. */
const MOST_CARDS = 60;

/** `1 error · 2 warnings`. */
export function findingWords(findings: readonly ShownFinding[]): string {
  const of = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  return SEVERITIES.filter((one) => of(one) > 0)
    .map((one) => count(of(one), ...NOUNS[one]))
    .join(" · ");
}

export function FindingsPart({ run }: { run: RunDetail }) {
  const [off, setOff] = useState<ReadonlySet<Severity>>(new Set());
  const [rule, setRule] = useState("");
  const [all, setAll] = useState(false);
  const wanted = wantedFinding.value;
  if (run.findings.length === 0) return <NoFindings run={run} />;
  const known = run.findings.some((one) => one.id === wanted);
  const found = run.findings.filter(
    (one) => one.id === wanted || (!off.has(one.severity) && (rule === "" || one.rule === rule)),
  );
  const shown = all ? found : found.filter((one, at) => at < MOST_CARDS || one.id === wanted);
  const toggle = (one: Severity) => {
    const next = new Set(off);
    if (!next.delete(one)) next.add(one);
    setOff(next);
  };
  return (
    <div class="fill-down scroll part-scroll">
      <section class="run-findings" aria-label="Findings">
        <Filters findings={run.findings} off={off} onToggle={toggle} rule={rule} onRule={setRule} />
        {wanted && !known ? (
          <p class="note-warn" role="status">
            The link names the finding <code class="isolate">{visibleText(wanted)}</code>, which this run does not have.
          </p>
        ) : null}
        {shown.map((one) => (
          <FindingCard key={one.id} finding={one} run={run.id} wanted={one.id === wanted} />
        ))}
        {found.length > shown.length ? (
          <p class="anywhere quiet card-none">
            <Button onClick={() => setAll(true)}>Show all {found.length}</Button>
          </p>
        ) : null}
        {shown.length === 0 ? (
          <p class="anywhere quiet card-none">
            Nothing fits.{" "}
            <Button onClick={() => (setOff(new Set()), setRule(""))}>Show all {run.findings.length}</Button>
          </p>
        ) : null}
        <LookedAt run={run} />
      </section>
    </div>
  );
}

interface FiltersProps {
  findings: readonly ShownFinding[];
  off: ReadonlySet<Severity>;
  onToggle(severity: Severity): void;
  rule: string;
  onRule(rule: string): void;
}

function Filters({ findings, off, onToggle, rule, onRule }: FiltersProps) {
  const rules = [...new Set(findings.map((one) => one.rule))].sort();
  return (
    <div class="hstack wraps gap-2 finding-filters" role="toolbar" aria-label="Filter findings">
      {SEVERITIES.map((one) => {
        const amount = findings.filter((finding) => finding.severity === one).length;
        if (amount === 0) return null;
        return (
          <button
            key={one}
            type="button"
            class="pill finding-filter"
            data-level={one}
            aria-pressed={!off.has(one)}
            onClick={() => onToggle(one)}
          >
            {count(amount, ...NOUNS[one])}
          </button>
        );
      })}
      {rules.length > 1 ? (
        <Select
          label="Rule"
          value={rule}
          options={[{ value: "", label: "All rules" }, ...rules.map((one) => ({ value: one, label: cut(one) }))]}
          onChange={onRule}
        />
      ) : null}
    </div>
  );
}

function NoFindings({ run }: { run: RunDetail }) {
  const title = run.status === "running" ? "No problems found so far" : "No problems found";
  return (
    <EmptyState title={run.watched ? title : "Not watched"} {...(run.watched ? { icon: CheckIcon } : {})}>
      <LookedAt run={run} />
      {run.watched ? null : (
        <Lessons>
          <Lesson title="Watch a whole training" text="stepscope run train.py" />
          <Lesson title="Or a few batches with every check on" text="stepscope check train.py" />
        </Lessons>
      )}
    </EmptyState>
  );
}

/** What the findings rest on: a run that nobody watched has passed nothing. */
function LookedAt({ run }: { run: RunDetail }) {
  const looked = run.looked_at.length > 0 ? `Checked: ${run.looked_at.join(", ")}.` : "There was nothing to check.";
  return (
    <p class="anywhere quiet looked-at">
      {looked}
      {run.watched
        ? null
        : " The script was not watched while it trained; use stepscope run to check it with every rule."}
    </p>
  );
}
