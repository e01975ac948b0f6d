/** What the metric depends on: importance in a model of it, correlation, and the effect of each parameter. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Button, ErrorState, Skeleton } from "../../components";
import { isAbort } from "../../lib/api";
import { count, formatNumber, visibleText } from "../../lib/format";
import type { Importance, ParameterImportance } from "../../lib/schema";
import * as data from "./data";
import { EffectPlot } from "./effect";
import { EffectSpark } from "./effect-spark";
import type { ParamScope } from "./scope";

export function ImportanceView() {
  const { found, fault, retry } = useImportance();
  if (fault) return <ErrorState error={fault} onRetry={retry} />;
  if (!found) return <Waiting />;
  return <ImportanceBody found={found} scope={data.scope} />;
}

const REST_MS = 20_000;

/**
 * Asks when the table is there, and again for another question. News of the same runs never stops a question that is
 * under way (where runs go on there would be no answer at all); they are asked for after a rest.
 */
function useImportance(): { found: Importance | null; fault: unknown; retry(): void } {
  const [found, setFound] = useState<Importance | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [again, setAgain] = useState(0);
  const news = useRef<() => void>();
  const table = data.table.value;
  const what = data.question();
  useEffect(() => {
    if (!table) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let known: unknown; // the version that the last question was about
    let busy = false;
    const ask = async () => {
      timer = undefined;
      busy = true;
      known = data.table.peek()?.version;
      try {
        setFound(await data.askImportance(stop.signal));
        setFault(null);
      } catch (error) {
        if (!isAbort(error)) setFault(error);
      }
      busy = false;
      news.current?.();
    };
    news.current = () => {
      if (!busy && !stop.signal.aborted && data.table.peek()?.version !== known) timer ??= setTimeout(ask, REST_MS);
    };
    void ask();
    return () => (clearTimeout(timer), stop.abort());
  }, [table === null, what, again]);
  useEffect(() => news.current?.(), [table?.version]);
  return { found, fault, retry: () => setAgain(again + 1) };
}

const MOST = 12;
const UNLIKELY = 0.05;

const mayBeChance = ({ chance }: ParameterImportance): boolean => chance !== null && chance >= UNLIKELY;

export function ImportanceBody({
  found,
  scope,
  small = false,
}: {
  found: Importance;
  scope: ParamScope;
  small?: boolean;
}) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [all, setAll] = useState(false);
  if (found.metric === null || found.parameters.length === 0)
    return (
      <p class="none">
        {found.metric === null
          ? "These runs have no metric to rank them by."
          : found.runs === 0
            ? "No run has a finite value of this metric."
            : `The ${count(found.runs, "run")} with a finite value of this metric ${found.runs === 1 ? "is" : "are"} set to the same.`}
      </p>
    );
  const rows = all ? found.parameters : found.parameters.slice(0, small ? 8 : MOST);
  const one =
    found.parameters.find((parameter) => parameter.key === chosen) ?? (found.parameters[0] as ParameterImportance);
  const most = Math.max(...found.parameters.map((parameter) => parameter.importance ?? 0), 1e-9);
  return (
    <div class="importance" data-small={small || undefined}>
      <div class="scroll shrinks importance-list">
        <Verdict found={found} />
        <table class="table-hover table importance-table">
          <thead>
            <tr>
              <th scope="col">Parameter</th>
              <th
                scope="col"
                title="The fraction of the metric's variance that this parameter explains alone, by Optuna's fANOVA"
              >
                Importance
              </th>
              <th
                scope="col"
                title="Spearman's rank correlation with its 95% interval; for text with more than two values ε, which has no sign"
              >
                Correlation
              </th>
              <th scope="col">Effect</th>
              <th scope="col" class="number">
                Runs
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((parameter) => (
              <Row
                key={parameter.key}
                parameter={parameter}
                most={most}
                scope={scope}
                total={found.runs}
                chosen={parameter === one}
                onChoose={() => setChosen(parameter.key)}
              />
            ))}
          </tbody>
        </table>
        {found.parameters.length > rows.length ? (
          <Button kind="quiet" onClick={() => setAll(true)}>
            {found.parameters.length - rows.length} more
          </Button>
        ) : null}
        {rows.some(mayBeChance) ? (
          <p class="small quiet">
            Correlations in gray may be chance: one as strong comes up by luck in at least 5 of 100 tables of this size.
          </p>
        ) : null}
        {small ? null : <Method found={found} />}
      </div>
      {small ? null : <EffectPlot scope={scope} parameter={one} metric={`${found.metric}`} />}
    </div>
  );
}

function Verdict({ found }: { found: Importance }) {
  const left = found.left_out > 0 ? ` ${count(found.left_out, "run")} with NaN or ∞ left out.` : "";
  if (found.verdict === "few")
    return (
      <p class="importance-verdict" data-kind="warn">
        <b>Too few runs for a model.</b> {count(found.runs, "run")} {found.runs === 1 ? "has" : "have"} a finite value;
        10 are needed. Only correlations are shown.{left}
      </p>
    );
  if (found.verdict === "missing")
    return (
      <p class="importance-verdict" data-kind="warn">
        <b>Importance needs {found.needed.join(" and ")}.</b> Install {found.needed.length === 1 ? "it" : "them"} where
        this server runs and restart it: <code>pip install 'stepscope[sweep]'</code>. Only correlations are shown.{left}
      </p>
    );
  if (found.verdict === "nothing")
    return (
      <p class="importance-verdict" data-kind="warn">
        <b>These parameters do not explain the metric.</b> On runs it has not seen the model is no better than the mean
        (R² {formatNumber(found.r2 ?? 0, 2)}), so no importance is shown.{left}
      </p>
    );
  return (
    <p class="importance-verdict">
      The model explains <b>{Math.round((found.r2 ?? 0) * 100)}%</b> of the variance of{" "}
      <b class="isolate">{visibleText(found.metric ?? "")}</b> ({found.stat}
      {found.log ? ", log" : ""}) on runs it has not seen, from {count(found.runs, "run")}.{left}
    </p>
  );
}

function Row({
  parameter,
  most,
  scope,
  total,
  chosen,
  onChoose,
}: {
  parameter: ParameterImportance;
  most: number;
  scope: ParamScope;
  total: number;
  chosen: boolean;
  onChoose(): void;
}) {
  const { importance } = parameter;
  const part = (importance ?? 0) / most;
  return (
    <tr data-chosen={chosen || undefined} onClick={onChoose}>
      <th scope="row">
        <button
          type="button"
          class="medium anywhere to-left isolate link-plain"
          aria-pressed={chosen}
          onClick={onChoose}
        >
          {visibleText(parameter.label)}
        </button>
      </th>
      <td>
        {importance === null ? (
          <span class="quiet">–</span>
        ) : (
          <span class="anchor block importance-bar" title={formatNumber(importance, 3)}>
            <i style={{ width: `${part * 100}%` }} />
            <b>{importance < 0.0005 ? "0" : importance.toFixed(importance < 0.1 ? 3 : 2)}</b>
          </span>
        )}
      </td>
      <td>
        <Correlation parameter={parameter} />
      </td>
      <td class="importance-effect">
        <EffectSpark scope={scope} parameter={parameter} />
      </td>
      <td class="number">
        {parameter.runs === total ? formatNumber(total) : `${formatNumber(parameter.runs)} of ${formatNumber(total)}`}
      </td>
    </tr>
  );
}

/** A dot with its interval on a line from −1 to 1. */
function Correlation({ parameter }: { parameter: ParameterImportance }) {
  const { correlation, low, high } = parameter;
  if (correlation === null || low === null || high === null) return <span class="quiet">–</span>;
  const at = (value: number) => `${((value + 1) / 2) * 100}%`;
  const chance = mayBeChance(parameter);
  const words = `${correlation.toFixed(2)}, 95% interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
  return (
    <span class="correlation" title={chance ? `${words}; may be chance` : words}>
      <span class="correlation-line" data-sure={!chance || undefined}>
        <i style={{ left: at(low), width: `${((high - low) / 2) * 100}%` }} />
        <em style={{ left: at(correlation) }} />
      </span>
      <b>{`${parameter.signed ? "" : "ε "}${correlation < 0 ? "−" : ""}${Math.abs(correlation).toFixed(2)}`}</b>
    </span>
  );
}

function Method({ found }: { found: Importance }) {
  return (
    <details class="soft small importance-method">
      <summary>How this is computed</summary>
      <p>
        <b>Importance</b>: the fraction of the variance of the metric{found.log ? "’s logarithm" : ""} that the
        parameter explains alone, by Optuna’s fANOVA. What parameters explain only together belongs to none of them, so
        the fractions add up to less than 1. Numbers are replaced by their ranks. A value that is not set counts as a
        value of its own. Parameters that go together share their importance.
      </p>
      <p>
        <b>R²</b>: how much of the variance a random forest of scikit-learn explains on runs that its trees have not
        seen.
      </p>
      <p>
        <b>Correlation</b>: Spearman’s, of ranks, with the 95% interval of resampled runs. For text with more than two
        values it is ε: the root of the share of the rank variance that lies between the values, less what chance would
        put there. It has no sign. It is in color where shuffled runs go together as much in fewer than 5 of 100 tables
        of this size (Holm’s correction).
      </p>
      <p>
        <b>Effect</b>: what that forest expects on average when all runs have this value and keep the rest (partial
        dependence). None of this proves a cause: runs were not set at random, unless you did so.
      </p>
    </details>
  );
}

function Waiting() {
  return (
    <div class="wait importance-wait" aria-busy="true">
      <p class="quiet" role="status">
        Computing parameter importance …
      </p>
      <Skeleton width="60%" height={20} />
      <Skeleton height={240} />
    </div>
  );
}
