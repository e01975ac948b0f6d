/** What a rule says of itself: the words of `stepscope explain`, with code written wrong and right. */

import { useEffect, useState } from "preact/hooks";
import { call, isAbort } from "../../lib/api";
import { visibleText } from "../../lib/format";
import type { RuleDetail } from "../../lib/schema";
import { Prose } from "./source";

export function Explanation({ rule }: { rule: string }) {
  const [told, setTold] = useState<RuleDetail | null>(null);
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const control = new AbortController();
    call("POST /api/rule", { rule }, { signal: control.signal }).then(setTold, (fault: unknown) => {
      if (!isAbort(fault)) setFailed(fault instanceof Error ? fault.message : String(fault));
    });
    return () => control.abort();
  }, [rule]);
  if (failed) return <p class="vstack gap-2 isolate quiet finding-explained">{visibleText(failed)}</p>;
  if (!told) return null;
  const parts = [
    ["", told.summary],
    ["", told.about],
    ["Why it matters", told.why],
    ["What to do", told.fix],
    ["How it is found", [told.how, told.asked].filter(Boolean).join(" ")],
  ] as const;
  return (
    <div class="vstack gap-2 finding-explained">
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
      <pre class="code-box isolate" tabIndex={0}>
        {visibleText(code)}
      </pre>
    </figure>
  );
}
