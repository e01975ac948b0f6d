/** One histogram of one step, large, with what is known about its values; steps can be walked through. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { binAt, drawOneHistogram } from "../../charts/draw-histogram-one";
import type { Inks } from "../../charts/inks";
import { IconButton, Skeleton, Toggle } from "../../components";
import { ChevronLeftIcon, ChevronRightIcon, CloseIcon } from "../../components/icons";
import { useKeys } from "../../keys";
import { call } from "../../lib/api";
import { percentileOf, rowAt, shareAtZero } from "../../lib/distributions";
import { formatNumber, formatTime, visibleText } from "../../lib/format";
import type { Histogram, MediaItem } from "../../lib/schema";
import { inkOfRun, lookOfRun, nameOf } from "../../state";
import { Canvas, type Size } from "../charts/canvas";
import * as settings from "./settings";

export function OneStep({ run, name, beat }: { run: string; name: string; beat: number }) {
  const wanted = settings.linkedStep();
  const { item, steps, error } = useStep(run, name, wanted, beat);
  const first = useStep(run, name, steps[0] ?? null, 0).item;
  const [compare, setCompare] = useState(true);
  const row = rowAt(steps, item?.step ?? null) ?? 0;
  const walk = (by: number) => {
    const next = steps[row + by];
    if (next !== undefined) settings.step.value = next;
  };
  const close = () => (settings.opened.value = []);
  useKeys({ ArrowLeft: () => walk(-1), ArrowRight: () => walk(1), Escape: close });
  const before = compare && first && item && first.step !== item.step ? (first.histogram ?? null) : null;
  return (
    <aside class="aside dist-one" aria-label={`One step of ${visibleText(name)}`}>
      <header>
        <span class="ink" style={inkOfRun(run)} />
        <h2 class="isolate ellipsis" title={visibleText(name)}>
          {visibleText(name)}
        </h2>
        <IconButton label="Close (Esc)" onClick={close}>
          <CloseIcon size={14} />
        </IconButton>
      </header>
      <p class="quiet isolate ellipsis">{visibleText(nameOf(run))}</p>
      <div class="hstack gap-1 dist-walk">
        <IconButton label="Previous step (←)" disabled={row <= 0} onClick={() => walk(-1)}>
          <ChevronLeftIcon size={14} />
        </IconButton>
        <strong>step {item ? item.step.toLocaleString("en-US") : "…"}</strong>
        <IconButton label="Next step (→)" disabled={row >= steps.length - 1} onClick={() => walk(1)}>
          <ChevronRightIcon size={14} />
        </IconButton>
        <span class="quiet">{steps.length ? `${row + 1} of ${steps.length}` : ""}</span>
      </div>
      {error ? <p role="alert">{error}</p> : null}
      {item?.error ? <p role="alert">{visibleText(item.error)}</p> : null}
      {item?.histogram ? (
        <Large shape={item.histogram} before={before} run={run} name={name} step={item.step} />
      ) : item ? null : (
        <Skeleton width="100%" height={200} />
      )}
      {first && item && first.step !== item.step ? (
        <Toggle
          checked={compare}
          label={`Outline of step ${first.step.toLocaleString("en-US")}`}
          onChange={setCompare}
        />
      ) : null}
      {item?.histogram ? <Statistics item={item} shape={item.histogram} /> : null}
    </aside>
  );
}

function Large({
  shape,
  before,
  run,
  name,
  step,
}: {
  shape: Histogram;
  before: Histogram | null;
  run: string;
  name: string;
  step: number;
}) {
  const [bin, setBin] = useState<number | null>(null);
  const log = settings.logCounts.value;
  const colour = lookOfRun(run).colour;
  const options = { log, bin, before };
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) =>
      drawOneHistogram(ctx, shape, size, inks, colour, { log, bin, before }),
    [shape, before, colour, log, bin],
  );
  const words =
    bin === null
      ? ""
      : `${formatNumber(shape.counts[bin] ?? 0)} from ${formatNumber(shape.edges[bin] ?? 0)} to ${formatNumber(shape.edges[bin + 1] ?? 0)}`;
  return (
    <>
      <div class="dist-large">
        <Canvas
          label={`Histogram of ${visibleText(name)} at step ${step}`}
          draw={draw}
          onPoint={(px, _py, size) => setBin(binAt(shape, size, px, options))}
          onLeave={() => setBin(null)}
        />
      </div>
      <p class="soft small dist-here" aria-live="off">
        {words || `${shape.counts.length} bins, as they were logged`}
      </p>
    </>
  );
}

function Statistics({ item, shape }: { item: MediaItem; shape: Histogram }) {
  const meta = item.meta as Record<string, unknown>;
  const number = (name: string): string => (typeof meta[name] === "number" ? formatNumber(meta[name]) : "–");
  const share = (part: number) => formatNumber(percentileOf(shape.edges, shape.counts, part));
  const zero = shareAtZero(shape.edges, shape.counts);
  const bad = ["nan", "pos_inf", "neg_inf"].map((name) => Number(meta[name] ?? 0));
  const rows: [string, string][] = [
    ["values", number("total")],
    ["mean", number("mean")],
    ["deviation", number("std")],
    ["minimum", number("min")],
    ["5%", share(0.05)],
    ["25%", share(0.25)],
    ["median", share(0.5)],
    ["75%", share(0.75)],
    ["95%", share(0.95)],
    ["maximum", number("max")],
    ["in the bin of 0", zero === null ? "–" : `${formatNumber(zero * 100, 3)}%`],
    ["NaN, ∞, −∞", bad.map((n) => formatNumber(n)).join(", ")],
    ["logged", formatTime(item.time)],
  ];
  return (
    <dl class="facts facts-apart dist-stats">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd data-bad={(name.startsWith("NaN") && bad.some((n) => n > 0)) || undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The histogram at or before a step (the newest for null), and all steps that have one. */
function useStep(
  run: string,
  key: string,
  step: number | null,
  beat: number,
): { item: MediaItem | null; steps: readonly number[]; error: string | null } {
  const [found, setFound] = useState<{ what: string; item: MediaItem | null; steps: readonly number[] } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const what = `${run} ${key}`;
  useEffect(() => {
    const stop = new AbortController();
    call("POST /api/media", { runs: [run], key, step }, { signal: stop.signal }).then(
      ({ items, steps }) => (
        setFound({ what, item: items.find((one) => one.kind === "histogram") ?? null, steps: steps[0]?.steps ?? [] }),
        setError(null)
      ),
      (fault: unknown) => stop.signal.aborted || setError(fault instanceof Error ? fault.message : String(fault)),
    );
    return () => stop.abort();
  }, [run, key, step, beat]);
  const fresh = found?.what === what ? found : null;
  return { item: fresh?.item ?? null, steps: fresh?.steps ?? [], error };
}
