/** The ranks of a run: one measure by rank and step, the band over all ranks, and which rank the others wait for. */

import { useCallback, useMemo, useState } from "preact/hooks";
import { columnAt, drawBand, drawHeat, heatHeight, rowAt } from "../../../charts/draw-ranks";
import type { Inks } from "../../../charts/inks";
import { EmptyState, ErrorState, Lesson, Lessons, Select, Skeleton } from "../../../components";
import { SystemIcon } from "../../../components/icons";
import { Segments } from "../../../components/segments";
import { count, cutMiddle, visibleText } from "../../../lib/format";
import { BAND_HEAD, bandRows, heatRange, joined, sayBand, sayCell, sayMeasure } from "../../../lib/rank-view";
import type { Ranks, RunDetail } from "../../../lib/schema";
import { text } from "../../../lib/url";
import { param } from "../../../router";
import { Canvas, type Size } from "../../charts/canvas";
import { useAnswer } from "../answer";
import "../../../style/ranks.css";

const measure = param<string>("measure", "", text);
const FIRST = ["step_time", "data_wait", "loss", "memory"];

export function RanksPart({ run }: { run: RunDetail }) {
  const asked = run.parts.ranks > 0 ? { run: run.id, measure: measure.value } : null;
  const { answer, fault, waiting, again } = useAnswer("POST /api/ranks", asked, run.version);
  if (!asked) return <OneRank />;
  if (fault && !answer) return <ErrorState error={fault} onRetry={again} />;
  if (!answer) return <Skeleton width="100%" height={240} />;
  return (
    <div class="fill-down scroll part-scroll" aria-busy={waiting}>
      <div class="ranks-part">
        <Slow view={answer} />
        {answer.measures.length > 0 ? (
          <Pictures view={answer} />
        ) : (
          <p class="quiet">No two ranks have logged the same metric.</p>
        )}
      </div>
    </div>
  );
}

function Slow({ view }: { view: Ranks }) {
  return (
    <div class="ranks-head">
      <p>
        <b>{count(view.ranks, "rank")}</b> on {machines(view)}
      </p>
      {view.slow.map((words) => (
        <p key={words} class="ranks-slow isolate">
          {visibleText(words[0]?.toUpperCase() + words.slice(1))}.
        </p>
      ))}
    </div>
  );
}

function machines({ hosts, machines }: Ranks): string {
  const shown = hosts.slice(0, 4).map((one) => `${visibleText(one.host) || "an unknown machine"} (${one.ranks})`);
  return machines > 4 ? `${count(machines, "machine")}: ${shown.join(", ")} …` : shown.join(", ");
}

function Pictures({ view: answer }: { view: Ranks }) {
  const view = useMemo(() => joined(answer), [answer]);
  const [cell, setCell] = useState<readonly [number, number] | null>(null);
  const [at, setAt] = useState(-1);
  const heat = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => drawHeat(ctx, view, size, inks, cell),
    [view, cell],
  );
  const band = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => drawBand(ctx, view, size, inks, at),
    [view, at],
  );
  const title = view.measures.find((one) => one.id === view.measure)?.title ?? view.measure;
  const hovered = cell ? view.rows[cell[0]] : undefined;
  const [lo, hi] = heatRange(view.rows);
  return (
    <>
      <div class="ranks-bar">
        <Choice view={view} />
        {sayMeasure(lo, view.unit) === sayMeasure(hi, view.unit) ? (
          <span class="quiet">{sayMeasure(lo, view.unit)} everywhere</span>
        ) : (
          <span class="ranks-scale quiet">
            {sayMeasure(lo, view.unit)} <i aria-hidden="true" /> {sayMeasure(hi, view.unit)}
          </span>
        )}
        {view.outlier ? <span class="quiet">{view.outlier}</span> : null}
      </div>
      <p class="ranks-caption" aria-live="off">
        {cell && hovered ? visibleText(sayCell(view, hovered, cell[1])) : `${visibleText(title)} by rank and step`}
      </p>
      <div class="ranks-picture" style={{ height: `${heatHeight(view.rows.length)}px` }}>
        <Canvas
          label={`Heat map of ${visibleText(title)}: ${count(view.ranks, "rank")} over ${count(view.steps.length, "interval")} of steps`}
          draw={heat}
          onPoint={(px, py, size) => {
            const row = rowAt(view, size, py);
            const column = columnAt(view, size, px);
            setCell(row < 0 || column < 0 ? null : [row, column]);
          }}
          onLeave={() => setCell(null)}
        />
      </div>
      <p class="ranks-caption" aria-live="off">
        {at >= 0 ? sayBand(view, at) : `${visibleText(title)} over all ranks: mean, with the band from min to max`}
      </p>
      <div class="ranks-picture ranks-band">
        <Canvas
          label={`${visibleText(title)} over all ranks: mean, min and max`}
          draw={band}
          onPoint={(px, _, size) => setAt(columnAt(view, size, px))}
          onLeave={() => setAt(-1)}
          spoken={{ caption: `${visibleText(title)} over all ranks`, head: BAND_HEAD, rows: bandRows(view) }}
        />
      </div>
    </>
  );
}

function Choice({ view }: { view: Ranks }) {
  const main = view.measures.filter((one) => FIRST.includes(one.id));
  const others = view.measures.filter((one) => !FIRST.includes(one.id));
  const choose = (id: string) => (measure.value = id);
  const isMain = main.some((one) => one.id === view.measure);
  return (
    <>
      {main.length > 0 ? (
        <Segments
          label="Measure"
          value={view.measure}
          options={main.map((one) => ({ value: one.id, label: one.title, about: `From ${one.key}` }))}
          onChange={choose}
        />
      ) : null}
      {others.length > 0 ? (
        <Select
          label="Other metric"
          value={isMain ? "" : view.measure}
          options={[
            ...(isMain ? [{ value: "", label: "Other metric …" }] : []),
            ...others.map((one) => ({ value: one.id, label: cutMiddle(visibleText(one.title), 60) })),
          ]}
          onChange={(id) => id && choose(id)}
        />
      ) : null}
    </>
  );
}

function OneRank() {
  return (
    <EmptyState title="This run has one rank" icon={SystemIcon}>
      <p>For a training on several processes, this page compares the ranks: step time, data wait, loss and memory.</p>
      <Lessons>
        <Lesson title="With torchrun" text={"torchrun --nproc-per-node 4 -m stepscope run train.py"} />
      </Lessons>
    </EmptyState>
  );
}
