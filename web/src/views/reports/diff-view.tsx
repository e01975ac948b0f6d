import { useMemo } from "preact/hooks";
import { count, visibleText } from "../../lib/format";
import { diffCount, diffLines, shortDiff } from "../../lib/report-diff";

const SIGNS = { same: " ", in: "+", out: "−", gap: "" } as const;
const WORDS = { same: "", in: "added: ", out: "removed: ", gap: "" } as const;

/** What was taken out of the older text and put into the newer. */
export function DiffView({ older, newer }: { older: string; newer: string }) {
  const all = useMemo(() => diffLines(older, newer), [older, newer]);
  const { added, removed } = diffCount(all);
  if (added + removed === 0) return <p class="quiet">The two versions are identical.</p>;
  return (
    <>
      <p class="diff-count">
        {added ? <span data-kind="in">+{count(added, "line")}</span> : null}{" "}
        {removed ? <span data-kind="out">−{count(removed, "line")}</span> : null}
      </p>
      <div class="framed scroll version-lines" tabIndex={0} role="region" aria-label="Differences">
        {shortDiff(all, 3).map((line, at) => (
          <div key={at} data-kind={line.kind}>
            <span class="line-number" aria-hidden="true">
              {line.kind === "gap" ? "⋯" : line.number}
            </span>
            <span class="diff-sign" aria-hidden="true">
              {SIGNS[line.kind]}
            </span>
            <span class="visually-hidden">{WORDS[line.kind]}</span>
            <span class="isolate">
              {line.kind === "gap" ? count(line.number, "equal line") : visibleText(line.text)}
            </span>
          </div>
        ))}
      </div>
    </>
  );
}
