/** Under the form of a panel: what is wrong with a formula in it, with a caret under the character. */

import { useEffect, useState } from "preact/hooks";
import { call, isAbort } from "../../lib/api";
import { visibleText } from "../../lib/format";
import type { FormulaCheck } from "../../lib/schema";
import type { Options } from "../../lib/workspace";

const REST_MS = 250;

/** Every option that begins with `=`, alone or in a list. */
const formulasIn = (options: Options): string[] =>
  Object.values(options)
    .flat()
    .filter((value): value is string => typeof value === "string" && value.startsWith("="));

export function FormulaProblem({ options, runs }: { options: Options; runs: readonly string[] }) {
  const [wrong, setWrong] = useState<{ text: string; found: FormulaCheck } | null>(null);
  const formulas = formulasIn(options);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        for (const text of formulas) {
          const found = await call("POST /api/formula", { text, runs: [...runs] }, { signal: stop.signal });
          if (found.error) return setWrong({ text, found });
        }
        setWrong(null);
      } catch (fault) {
        if (!isAbort(fault)) setWrong(null); // the panel itself says what the server says
      }
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [formulas.join("\n"), runs.join()]);
  if (!wrong || !formulas.includes(wrong.text)) return null;
  return (
    <div class="small banner formula-problem" data-tone="bad" role="alert">
      <pre aria-hidden="true">
        {visibleText(wrong.text)}
        {wrong.found.position === null ? "" : `\n${" ".repeat(wrong.found.position)}^`}
      </pre>
      <p class="isolate">{visibleText(wrong.found.error ?? "")}</p>
    </div>
  );
}
