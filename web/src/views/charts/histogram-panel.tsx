/** A key's histograms over time, for one run at a time. */

import { Segments } from "../../components/segments";
import { useCallback, useEffect, useState } from "preact/hooks";
import { drawHistograms, type HistogramMode, type HistogramSpot, histogramSpot } from "../../charts/draw-histograms";
import type { Inks } from "../../charts/inks";
import { Button, Skeleton } from "../../components";
import { useAsker } from "../../components/use-asker";
import { ApiError, call } from "../../lib/api";
import { HISTOGRAM_HEAD, histogramRows } from "../../lib/chart-spoken";
import { nothingFinite } from "../../lib/distributions";
import { formatNumber } from "../../lib/format";
import type { Histograms, PanelInfo } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { Canvas, type Size } from "./canvas";
import { useMedia } from "./media-data";
import { RunChips } from "./run-chips";
import { useScope } from "./scope";

const MODES: readonly { value: HistogramMode; label: string }[] = [
  { value: "ridges", label: "Ridges" },
  { value: "heat", label: "Heat map" },
  { value: "bands", label: "Percentiles" },
];

export function HistogramPanel({ info }: { info: PanelInfo }) {
  const { pulse } = useScope();
  const media = useMedia(info);
  const [mode, setMode] = useState<HistogramMode>("ridges");
  const [chosen, setChosen] = useState<string | null>(null);
  const [data, setData] = useState<Histograms | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [again, setAgain] = useState(0);
  const [spot, setSpot] = useState<HistogramSpot | null>(null);
  const runs = media.data?.steps.map((one) => one.run) ?? [];
  const run = chosen !== null && runs.includes(chosen) ? chosen : runs[0];
  const beat = pulse.value;
  const asker = useAsker();
  useEffect(() => {
    if (!run) return (asker.stop(), setData(null));
    void asker.ask(`${run} ${info.key}`, (stop) =>
      call("POST /api/histograms", { run, key: info.key, rows: 40, bins: 48 }, { signal: stop }).then(
        (answer) => (setData(answer), setError(null)),
        (fault) => stop.aborted || setError(fault instanceof ApiError ? fault.message : String(fault)),
      ),
    );
  }, [run, info.key, again, beat]);
  const colour = run ? lookOfRun(run).colour : "";
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) =>
      data && data.steps.length > 0 && drawHistograms(ctx, data, mode, size, inks, colour, spot),
    [data, mode, colour, spot],
  );
  const failed = error ?? (data ? null : media.error);
  const nothing = runs.length === 0 && media.data !== null;
  if (failed && !data) {
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
        <p>{failed}</p>
        <Button onClick={() => (media.retry(), setAgain(again + 1))}>Try again</Button>
      </div>
    );
  }
  return (
    <div class="page histogram">
      <div class="hstack gap-2 apart histogram-bar">
        <RunChips runs={runs} chosen={run} onChoose={setChosen} />
      </div>
      {nothing || (data && nothingFinite(data)) ? (
        <p class="none">{nothing ? "No selected run logged this histogram." : "Every value is NaN or ∞."}</p>
      ) : data ? (
        <Canvas
          label={`${info.key}: histograms at ${data.steps.length} steps`}
          draw={draw}
          onPoint={(px, py, size) => setSpot(histogramSpot(data, mode, size, px, py))}
          onLeave={() => setSpot(null)}
          spoken={{ caption: info.key, head: HISTOGRAM_HEAD, rows: histogramRows(data) }}
        />
      ) : (
        <div class="fill-down anchor clipped canvas">
          <Skeleton width="60%" />
        </div>
      )}
      <div class="hstack gap-2 histogram-foot">
        <p class="ellipsis">{data && spot ? sayHere(data, mode, spot) : ""}</p>
        <span class="spring" />
        <Segments label="How histograms are drawn" value={mode} options={MODES} onChange={(one) => setMode(one)} />
      </div>
    </div>
  );
}

function sayHere(data: Histograms, mode: HistogramMode, { row, bin }: HistogramSpot): string {
  const step = `step ${(data.steps[row] ?? 0).toLocaleString("en-US")}`;
  const at = data.percentiles[row] ?? [];
  if (mode === "bands")
    return `${step}: median ${formatNumber(at[4] ?? Number.NaN)}, ${formatNumber(at[0] ?? Number.NaN)} to ${formatNumber(at[8] ?? Number.NaN)}`;
  const from = data.edges[bin];
  const to = data.edges[bin + 1];
  if (from === undefined || to === undefined) return step;
  return `${step}: ${formatNumber(data.counts[row]?.[bin] ?? 0)} from ${formatNumber(from)} to ${formatNumber(to)}`;
}
