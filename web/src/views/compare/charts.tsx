/** The curves of the compared runs or groups, metric by metric, drawn as on the Charts page. */

import { CloseIcon, PlusIcon } from "../../components/icons";
import { linkTo } from "../../router";
import { visibleText } from "../../lib/format";
import { ScopedPanel } from "../charts/scoped";
import { addressSettings } from "../charts/settings";
import { useAnswer } from "./answer";
import { Waiting } from "./section";
import { drawn } from "./state";

const FIRST = 6;
const MOST_OFFERED = 500;

export function ComparedCharts({ runs }: { runs: readonly string[] }) {
  const answer = useAnswer("POST /api/panels", { runs: [...runs] }, runs);
  if (!answer.data) return <Waiting answer={answer} height={240} />;
  const keys = answer.data.panels.filter((panel) => panel.kind === "scalar").map((panel) => panel.key);
  const known = new Set(keys);
  const asked = drawn.value.filter((key) => known.has(key));
  const shown = asked.length ? asked : keys.filter((key) => !key.startsWith("system/")).slice(0, FIRST);
  const rest = keys.filter((key) => !shown.includes(key)).slice(0, MOST_OFFERED);
  if (keys.length === 0) return <p class="quiet">These runs have logged no metrics.</p>;
  return (
    <>
      <div class="hstack wraps compare-tools">
        {shown.map((key) => (
          <span key={key} class="inline gap-1 small subtle compare-chip">
            <span class="isolate ellipsis">{visibleText(key)}</span>
            <button
              type="button"
              class="inline centered rigid quiet chip-remove"
              aria-label={`Do not draw ${visibleText(key)}`}
              disabled={shown.length === 1}
              onClick={() => (drawn.value = shown.filter((other) => other !== key))}
            >
              <CloseIcon size={10} />
            </button>
          </span>
        ))}
        {rest.length > 0 ? (
          <label class="inline gap-1 quiet draw-more">
            <PlusIcon size={13} />
            <select
              class="select"
              aria-label="Draw another metric"
              value=""
              onChange={(event) => (drawn.value = [...shown, event.currentTarget.value])}
            >
              <option value="">Draw another…</option>
              {rest.map((key) => (
                <option key={key} value={key}>
                  {visibleText(key).slice(0, 80)}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <span class="spring" />
        <a href={linkTo("/charts")}>All charts of these runs</a>
      </div>
      <div class="compare-charts">
        {shown.map((key) => (
          <ScopedPanel key={key} runs={runs} name={key} settings={addressSettings} />
        ))}
      </div>
    </>
  );
}
