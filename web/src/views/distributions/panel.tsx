/** One key of one run: its histograms over time. It fetches and draws while it is on the screen. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { drawHistograms, type HistogramMode, type HistogramSpot, histogramSpot } from "../../charts/draw-histograms";
import type { Inks } from "../../charts/inks";
import { Button, IconButton, Skeleton } from "../../components";
import { ExpandIcon } from "../../components/icons";
import { ApiError, call } from "../../lib/api";
import { nothingFinite, type Range, rowAt } from "../../lib/distributions";
import { HISTOGRAM_HEAD, histogramRows } from "../../lib/chart-spoken";
import { count, formatNumber, visibleText } from "../../lib/format";
import type { DistributionCell, Histograms } from "../../lib/schema";
import { turns } from "../../lib/turns";
import { lookOfRun, nameOf } from "../../state";
import { Canvas, type Size } from "../charts/canvas";
import { useVisible } from "../charts/visible";
import "../../style/distributions.css";

const ROWS = 40;
const BINS = 64;
/**
 * Of a panel with a range of its own, so much of a histogram may lie beyond: a few far values do not squeeze the rest.
 */
const TAILS = 0.004;

export interface DistributionPanelProps {
  run: string;
  /** The key under which the histograms were logged. */
  name: string;
  mode?: HistogramMode;
  /** What the list of layers knows about it. */
  cell?: DistributionCell;
  range?: Range | null;
  logCounts?: boolean;
  /** The step that is marked. */
  step?: number | null;
  /** Grows when the run has news. */
  beat?: number;
  onPick?(step: number): void;
  /** The run has no histograms under this name. */
  onMissing?(): void;
}

/** Until it is first on the screen it is an empty place: of hundreds of layers most never cost more than that. */
export function DistributionPanel(props: DistributionPanelProps) {
  const place = useRef<HTMLDivElement>(null);
  const visible = useVisible(place);
  const ever = useRef(false);
  ever.current ||= visible;
  return (
    <div ref={place} class="fill dist-place">
      {ever.current ? <PanelBody {...props} visible={visible} /> : null}
    </div>
  );
}

function PanelBody({
  run,
  name,
  mode = "ridges",
  cell,
  range = null,
  logCounts = false,
  step = null,
  beat = 0,
  onPick,
  onMissing,
  visible,
}: DistributionPanelProps & { visible: boolean }) {
  const { data, error, missing, retry } = useHistograms(run, name, visible, beat, range === null ? TAILS : 0);
  useEffect(() => (missing ? onMissing?.() : undefined), [missing]);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    if (!visible || data === null) return setDrawn(false);
    return turns.take(() => setDrawn(true));
  }, [visible, data === null]);
  const [spot, setSpot] = useState<HistogramSpot | null>(null);
  const colour = lookOfRun(run).colour;
  const mark = data ? rowAt(data.steps, step) : null;
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) =>
      data &&
      data.steps.length > 0 &&
      drawHistograms(ctx, data, mode, size, inks, colour, spot, { range, logCounts, mark }),
    [data, mode, colour, spot, range?.[0], range?.[1], logCounts, mark],
  );
  const latest = data?.steps[data.steps.length - 1] ?? cell?.last_step;
  return (
    <div class="page dist-panel" data-key={name} data-ready={data !== null || undefined}>
      <p class="hstack gap-2 soft tiny dist-caption">
        <span class="ellipsis" aria-live="off">
          {data && spot ? sayHere(data, mode, spot) : <Facts cell={cell} name={name} />}
        </span>
        {cell && cell.bad > 0 ? (
          <span class="badge" data-tone="bad">
            {count(cell.bad, "NaN or ∞", "NaN or ∞")}
          </span>
        ) : null}
        {onPick && latest !== undefined ? (
          <IconButton label={`One step of ${visibleText(name)}`} onClick={() => onPick(step ?? latest)}>
            <ExpandIcon size={12} />
          </IconButton>
        ) : null}
      </p>
      {error && !data ? (
        <div class="vstack gap-2 none dist-cover" role="alert">
          <p>{error}</p>
          <Button onClick={retry}>Try again</Button>
        </div>
      ) : data && data.steps.length === 0 ? (
        <div class="vstack gap-2 none dist-cover">
          <p>Its histograms are damaged or were dropped.</p>
        </div>
      ) : data && nothingFinite(data) ? (
        <div class="vstack gap-2 none dist-cover">
          <p>Every value is NaN or ∞.</p>
        </div>
      ) : data && drawn ? (
        <Canvas
          label={`${visibleText(name)} of ${visibleText(nameOf(run))}: histograms at ${count(data.steps.length, "step")}`}
          draw={draw}
          onPoint={(px, py, size) => setSpot(histogramSpot(data, mode, size, px, py, range))}
          onLeave={() => setSpot(null)}
          spoken={{ caption: visibleText(name), head: HISTOGRAM_HEAD, rows: histogramRows(data) }}
          onPick={(px, py, size) => {
            const at = histogramSpot(data, mode, size, px, py, range);
            const found = at ? data.steps[at.row] : undefined;
            if (found !== undefined) onPick?.(found);
          }}
        />
      ) : (
        <div class="fill-down anchor clipped canvas">{visible && !data ? <Skeleton width="50%" /> : null}</div>
      )}
    </div>
  );
}

/** The histograms of a key, fetched when they are first seen and again with every beat while they are. */
function useHistograms(
  run: string,
  key: string,
  wanted: boolean,
  beat: number,
  tails: number,
): { data: Histograms | null; error: string | null; missing: boolean; retry(): void } {
  const [data, setData] = useState<Histograms | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [again, setAgain] = useState(0);
  const have = useRef("");
  useEffect(() => {
    const what = `${run} ${key} ${beat} ${again} ${tails}`;
    if (!wanted || have.current === what) return;
    const stop = new AbortController();
    call("POST /api/histograms", { run, key, rows: ROWS, bins: BINS, tails }, { signal: stop.signal }).then(
      (answer) => ((have.current = what), setData(answer), setError(null)),
      (fault) => stop.signal.aborted || setError(fault instanceof ApiError ? fault : new ApiError(String(fault), 0)),
    );
    return () => stop.abort();
  }, [run, key, wanted, beat, again, tails]);
  return {
    data,
    error: error?.message ?? null,
    missing: error?.status === 404,
    retry: () => setAgain(again + 1),
  };
}

function Facts({ cell, name }: { cell: DistributionCell | undefined; name: string }) {
  if (!cell) return <span class="isolate">{visibleText(name)}</span>;
  const say = (value: number | null) => (value === null ? "–" : formatNumber(value, 3));
  return (
    <>
      mean <b>{say(cell.mean)}</b> · sd <b>{say(cell.std)}</b>
      {cell.stuck !== null && cell.stuck > 0.9 ? (
        <span class="warn">{` · ${Math.round(cell.stuck * 100)}% in two bins`}</span>
      ) : null}
    </>
  );
}

export function sayHere(data: Histograms, mode: HistogramMode, { row, bin }: HistogramSpot): string {
  const step = `step ${(data.steps[row] ?? 0).toLocaleString("en-US")}`;
  const at = data.percentiles[row] ?? [];
  const say = (index: number) => formatNumber(at[index] ?? Number.NaN, 3);
  if (mode === "bands") return `${step}: median ${say(4)}, 16–84% ${say(2)} to ${say(6)}, all ${say(0)} to ${say(8)}`;
  const from = data.edges[bin];
  const to = data.edges[bin + 1];
  if (from === undefined || to === undefined) return step;
  // Bins of different steps were brought onto common edges, so a count may be a share of what was counted.
  const counted = Math.round((data.counts[row]?.[bin] ?? 0) * 10) / 10;
  return `${step}: ${Number.isInteger(counted) ? "" : "about "}${formatNumber(counted)} from ${formatNumber(from, 3)} to ${formatNumber(to, 3)}`;
}
