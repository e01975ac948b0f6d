/** The body of a metric's panel: the lines of all drawn runs, with zoom, hover and marks. */

import { computed, effect, type ReadonlySignal, useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useCalm, useRested } from "../../calm";
import { LinePlot } from "../../charts/line-plot";
import { Button, Skeleton } from "../../components";
import { SpokenTable } from "../../components/spoken-table";
import { LINE_HEAD, lineRows } from "../../lib/chart-spoken";
import { hoverRows, nearestRow, oddMarks } from "../../lib/chart-hover";
import type { PlotLine, Range } from "../../lib/chart-line";
import { beyond } from "../../lib/chart-range";
import { panelX, xLabel } from "../../lib/chart-settings";
import type { PanelLines } from "../../lib/chart-store";
import { count, formatNumber } from "../../lib/format";
import type { PanelInfo } from "../../lib/schema";
import { hovered, lookOfRun, nameOf } from "../../state";
import { isDark } from "../../theme";
import { attachGestures } from "./gestures";
import { held, hover, moveHover, tip } from "./hover";
import { type PanelScene, sceneOf } from "./panel-scene";
import { type ChartScope, useScope } from "./scope";
import { setZoom } from "./settings";
import { viewOf } from "./view-of";
import { useSize } from "./visible";
import { isLinked, tellFit } from "./y-link";
import { runName } from "../../twins";
import { sayX } from "./words";

/** Near enough to the pointer to be meant. */
const NEAR_PX = 28;
const ZOOM_REST_MS = 130;

/** What the panel's menu can do with what is drawn. */
export interface PanelHandle {
  plot: LinePlot;
  scene: PanelScene;
}

export function LinePanel({
  info,
  handle,
}: {
  info: PanelInfo;
  handle: { current: (() => PanelHandle | null) | null };
}) {
  const scope = useScope();
  const { store, drawn } = scope;
  const host = useRef<HTMLDivElement>(null);
  const size = useSize(host);
  const data = useMemo(() => store.lines(info.key), [store, info.key]);
  const scene = useMemo(() => sceneOf(scope, info, data), [scope, info, data]);
  const plot = useRef<LinePlot | null>(null);
  const loading = useComputed(() => data.value.loading);
  const empty = useComputed(() => scene.value.lines.length === 0);
  const words = useMemo(() => computed(() => spokenOf(info, data.value, scene.value)), [info, data, scene]);
  const spoken = useCalm(words, hasLines);
  const rested = useRested();

  handle.current = () => (plot.current ? { plot: plot.current, scene: scene.peek() } : null);
  // Before the page is painted: what is asked for then is here when the first frame is over.
  useLayoutEffect(() => store.show(info.key), [store, info.key]);
  useEffect(() => scope.followGroups(), [scope]);
  useLayoutEffect(() => {
    if (size)
      return effect(() => store.want(info.key, viewOf(scope, info, size.width), drawn.value, restOf(scope, info)));
  }, [scope, info, size?.width]);
  useLayoutEffect(() => {
    const stop = effect(() =>
      tellFit(scope, info, isLinked(scope, info.section) ? scene.value.fit : null, scene.value.axes.logY),
    );
    return () => {
      stop();
      tellFit(scope, info, null, false);
    };
  }, [scope, info, scene]);
  useLayoutEffect(() => {
    if (!size || !host.current) return;
    plot.current?.resize(size.width, size.height);
    if (plot.current) return;
    plot.current = new LinePlot(host.current, scene.peek(), size.width, size.height);
  }, [size]);
  useLayoutEffect(() => {
    if (size) return follow(scope, info, scene, plot);
  }, [info, scene, size === null]);
  useEffect(() => {
    if (host.current && size) return attachGestures(host.current, gestures(scope, info, scene, plot));
  }, [info, scene, size === null]);
  useEffect(
    () => () => {
      plot.current?.destroy();
      plot.current = null;
    },
    [],
  );
  return (
    <>
      <div
        ref={host}
        class="plot"
        data-loading={loading.value || undefined}
        role="img"
        aria-label={spoken.value.summary}
      />
      {rested ? <SpokenLines spoken={spoken} /> : null}
      <Condition scope={scope} info={info} data={data} empty={empty} />
      <Marks scope={scope} scene={scene} />
    </>
  );
}

/** A zoom may still be moving; wait for it to rest. */
const restOf = ({ settings }: ChartScope, info: PanelInfo): number | undefined =>
  settings.zooms.value[panelX(settings.xAxis.value, info.x)] ? ZOOM_REST_MS : undefined;

type PlotRef = { current: LinePlot | null };

/** Names a panel among those of all boards on the page. */
const sourceOf = ({ id }: Pick<ChartScope, "id">, info: PanelInfo): string => `${id} ${info.key}`;

/** Draws again when the scene or the theme changes, and moves the crosshair. Nothing of this renders components. */
function follow(scope: ChartScope, info: PanelInfo, scene: ReadonlySignal<PanelScene>, plot: PlotRef): () => void {
  const self = sourceOf(scope, info);
  let dark = isDark.peek();
  const draw = effect(() => {
    const next = scene.value;
    const repaint = dark !== isDark.value;
    dark = isDark.value;
    if (repaint) plot.current?.repaint();
    plot.current?.update(next, hover.peek()?.source === self);
  });
  // The panel under the mouse says what is meant; all panels over the same x draw it.
  const point = effect(() => {
    const now = hover.value;
    const here = scene.value;
    if (!plot.current || now?.source !== self) return;
    const rows = hoverRows(
      here.lines.map((l) => l.line),
      now.value,
      here.axes.x,
    );
    const nearest = nearestRow(rows, now.y, (v) => plot.current?.pixelOfY(v) ?? Number.NaN);
    const near = rows[nearest];
    const close = near !== undefined && Math.abs(plot.current.pixelOfY(near.shown) - now.y) <= NEAR_PX;
    hovered.value = close ? near.run : null;
    tip.value = {
      source: self,
      rows,
      nearest,
      axis: now.axis,
      value: near?.x ?? now.value,
      clientX: now.clientX,
      clientY: now.clientY,
    };
  });
  const cross = effect(() => {
    const now = hover.value;
    const here = scene.value;
    if (!plot.current) return;
    if (!now || now.axis !== here.x) return plot.current.hover(null);
    const source = now.source === self;
    const rows = hoverRows(
      here.lines.map((l) => l.line),
      now.value,
      here.axes.x,
    );
    const nearest = source ? rows[tip.peek()?.nearest ?? -1]?.id : undefined;
    plot.current.hover({
      x: now.value,
      rows,
      nearest: nearest ?? null,
      run: hovered.value,
      colourOf: (run) => lookOfRun(run).colour,
    });
  });
  return () => {
    draw();
    point();
    cross();
    if (hover.peek()?.source === self) {
      held.value = false;
      moveHover(null);
    }
  };
}

function gestures(
  { id, store, settings }: ChartScope,
  info: PanelInfo,
  scene: ReadonlySignal<PanelScene>,
  plot: PlotRef,
) {
  return {
    plot: () => plot.current,
    window: () => scene.peek().axes.x,
    limits: () => store.extents.get(scene.peek().x) ?? scene.peek().axes.x,
    logX: () => scene.peek().axes.logX,
    zoom: (range: Range | null) => setZoom(settings, scene.peek().x, range),
    click: () => {
      if (hover.peek()) held.value = !held.peek();
    },
    hover(value: number | null, event: PointerEvent | null) {
      const top = plot.current?.canvas.getBoundingClientRect().top ?? 0;
      moveHover(
        value === null || !event
          ? null
          : {
              axis: scene.peek().x,
              value,
              source: sourceOf({ id }, info),
              clientX: event.clientX,
              clientY: event.clientY,
              y: event.clientY - top,
            },
      );
    },
  };
}

/** What stands over an empty panel: waiting, nothing there, or an error with a way out. */
function Condition({
  scope,
  info,
  data,
  empty,
}: {
  scope: ChartScope;
  info: PanelInfo;
  data: ReadonlySignal<PanelLines>;
  empty: ReadonlySignal<boolean>;
}) {
  const state = useMemo(
    () => computed(() => [data.value.error, data.value.fresh && data.value.loading, data.value.missing[0]].join("\n")),
    [data],
  );
  void state.value; // rendered when one of these changes, not with every point
  const { error, fresh, loading, missing } = data.peek();
  if (error) {
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
        <p>{error}</p>
        <Button onClick={() => scope.store.retry(info.key)}>Try again</Button>
      </div>
    );
  }
  const grouping = scope.settings.by.value.length > 0 && scope.groups.value === null;
  if ((fresh && loading) || (grouping && empty.value)) {
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover panel-wait">
        <Skeleton width="60%" />
      </div>
    );
  }
  if (!empty.value) return null;
  return (
    <div class="hstack gap-2 centered small anywhere raised quiet panel-cover">
      <p>
        {missing[0] ??
          (scope.drawnRuns.value.length === 0
            ? "All runs are hidden."
            : scope.drawn.value.length === 0
              ? "There is no group to draw."
              : "The shown runs did not log this.")}
      </p>
    </div>
  );
}

/** "× NaN at step 120": what is not finite is said in words too. */
function Marks({ scope, scene: source }: { scope: ChartScope; scene: ReadonlySignal<PanelScene> }) {
  const scene = source.value;
  const { first, total } = oddMarks(scene.lines.map((l) => l.line));
  const below = scene.axes.logY ? hiddenByLog(scene) : 0;
  const out = outliers(scope, scene);
  if (total === 0 && below === 0 && out === "") return null;
  const sign = { NaN: "×", "+Inf": "▲", "−Inf": "▼" } as const;
  return (
    <p class="gap-3 clipped tiny one-line quiet panel-marks">
      {first.slice(0, 3).map((mark) => (
        <span key={`${mark.run}${mark.kind}`} title={runName(mark.run)}>
          <b style={{ color: lookOfRun(mark.run).colour }}>{sign[mark.kind]}</b> {mark.kind} at {sayX(scene.x, mark.x)}
        </span>
      ))}
      {total > Math.min(3, first.length) ? (
        <span class="panel-marks-rest">{(total - Math.min(3, first.length)).toLocaleString("en-US")} more</span>
      ) : null}
      {out ? (
        <button
          type="button"
          class="link"
          title="Outside the y-range, so that the rest stays readable"
          onClick={() => (scope.settings.clip.value = "never")}
        >
          {out}
        </button>
      ) : null}
      {below > 0 ? <span>{count(below, "value")} ≤ 0 not on a log axis</span> : null}
    </p>
  );
}

/** "outliers to 3,000": what the y-range leaves out. A range that a person set is their own affair. */
function outliers({ settings }: ChartScope, { lines, axes, band, fit }: PanelScene): string {
  if (!fit || settings.clip.value === "never") return "";
  const { below, above } = beyond(
    lines.map((l) => l.line),
    { log: axes.logY, band, window: axes.x },
    axes.y,
  );
  const ends = [below, above].filter((end) => end !== null).map((end) => formatNumber(end));
  return ends.length ? `outliers to ${ends.join(" and ")}` : "";
}

function hiddenByLog(scene: PanelScene): number {
  let hidden = 0;
  for (const { line } of scene.lines) for (const v of line.value) if (v <= 0) hidden++;
  return hidden;
}

interface SpokenChart {
  summary: string;
  caption: string;
  lines: readonly PlotLine[];
}

const hasLines = ({ lines }: SpokenChart): boolean => lines.length > 0;

function SpokenLines({ spoken }: { spoken: ReadonlySignal<SpokenChart> }) {
  const { caption, lines } = spoken.value;
  return <SpokenTable caption={caption} head={LINE_HEAD} rows={lineRows(lines, nameOf)} />;
}

function spokenOf(info: PanelInfo, data: PanelLines, scene: PanelScene): SpokenChart {
  return {
    summary: summary(info, data, scene),
    caption: `${info.key} over ${xLabel(scene.x)}`,
    lines: data.lines,
  };
}

/** The chart in one sentence, for those who cannot see it. */
function summary(info: PanelInfo, data: PanelLines, scene: PanelScene): string {
  if (data.error) return `${info.key}: ${data.error}`;
  if (scene.lines.length === 0) return `${info.key}: no lines`;
  const last = scene.lines
    .slice(0, 4)
    .map(({ line }) => `${nameOf(line.run)} ${formatNumber(line.value.findLast(Number.isFinite) ?? Number.NaN)}`);
  return `${info.key} over ${xLabel(scene.x)}, ${count(scene.lines.length, "line")}. Last values: ${last.join(", ")}`;
}
