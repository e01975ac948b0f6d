/** Several metrics or formulas of the runs in one plot: the runs by colour, the metrics by dash. */

import { computed, effect, type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { TwoAxisPlot, type TwoAxisRow, type TwoAxisScene } from "../../charts/two-axis-plot";
import type { DrawnLine } from "../../charts/draw-lines";
import { bucketsFor } from "../../lib/chart-plan";
import { type Range, xExtent } from "../../lib/chart-line";
import { valueRange, xRange } from "../../lib/chart-range";
import { xLabel } from "../../lib/chart-settings";
import type { PanelLines } from "../../lib/chart-store";
import { axisKind } from "../../lib/chart-ticks";
import { DASHES, lookOf } from "../../lib/colour";
import { formatNumber, visibleText } from "../../lib/format";
import { lookOfRun, meet, nameOf } from "../../state";
import { isDark } from "../../theme";
import { useFollowing } from "../../views/charts/board";
import { attachGestures } from "../../views/charts/gestures";
import "../../views/charts/look";
import { ChartScope } from "../../views/charts/scope";
import { ownSettings, setZoom } from "../../views/charts/settings";
import { useSize } from "../../views/charts/visible";
import { sayX } from "../../views/charts/words";

export interface LinesFigureProps {
  runs: readonly string[];
  left: readonly string[];
  right: readonly string[];
  x: string;
  smooth: string;
  log: boolean;
}

const wordsOf = (key: string): string => visibleText(key.replace(/^=\s*/, ""));

export function LinesFigure(props: LinesFigureProps) {
  const { runs, left, right, x, smooth, log } = props;
  const keys = [...left, ...right];
  const shown = useSignal(runs);
  if (shown.peek().join() !== runs.join()) shown.value = runs;
  const scope = useMemo(
    () => new ChartScope(shown, ownSettings({ x, ...(smooth ? { smooth } : {}) }), { alone: true }),
    [x, smooth],
  );
  const data = useMemo(() => keys.map((key) => scope.store.lines(key)), [scope, keys.join("\n")]);
  const scene = useMemo(() => sceneOf(scope, data, left, right, log), [scope, data, log]);
  useEffect(() => () => scope.close(), [scope]);
  useEffect(() => void meet(runs).catch(() => undefined), [runs.join()]);
  useFollowing(scope, shown, false);
  const host = useRef<HTMLDivElement>(null);
  const size = useSize(host);
  useEffect(() => {
    const stops = keys.map((key) => scope.store.show(key));
    return () => stops.forEach((stop) => stop());
  }, [scope, keys.join("\n")]);
  useEffect(() => {
    if (!size) return;
    return effect(() => {
      const view = {
        x,
        window: scope.settings.zooms.value[x] ?? null,
        buckets: bucketsFor(size.width, shown.value.length * keys.length),
        smoothing: scope.settings.smoothing.value,
        superseded: false,
        ranks: false,
      };
      for (const key of keys) scope.store.want(key, view, shown.value);
    });
  }, [scope, keys.join("\n"), size?.width]);
  const rows = usePlot(host, size, scene, scope, x);
  const states = data.map((one) => one.value);
  return (
    <div class="vstack anchor lines-figure">
      <div
        ref={host}
        class="plot"
        role="img"
        aria-label={summary(states, keys, x)}
        data-loading={states.some((one) => one.loading) || undefined}
      />
      <Cover states={states} onRetry={() => scope.store.retry()} />
      <LinesTip rows={rows} x={x} />
      <LinesLegend left={left} right={right} single={runs.length === 1} />
    </div>
  );
}

/** Draws the scene whenever it changes; gives what is under the pointer. */
function usePlot(
  host: { current: HTMLDivElement | null },
  size: { width: number; height: number } | null,
  scene: ReadonlySignal<TwoAxisScene>,
  scope: ChartScope,
  x: string,
): readonly TwoAxisRow[] {
  const plot = useRef<TwoAxisPlot | null>(null);
  const [rows, setRows] = useState<readonly TwoAxisRow[]>([]);
  useEffect(() => {
    if (!size || !host.current) return;
    const made = new TwoAxisPlot(host.current, scene.peek(), size.width, size.height);
    plot.current = made;
    const stop = effect(() => {
      void isDark.value;
      made.update(scene.value, size.width, size.height);
    });
    const gestures = attachGestures(host.current, {
      plot: () => plot.current,
      window: () => scene.peek().x,
      limits: () => scope.store.extents.get(x) ?? scene.peek().x,
      logX: () => false,
      zoom: (range) => setZoom(scope.settings, x, range),
      hover: (value) => setRows(made.hover(value)),
      click: () => undefined,
    });
    return () => {
      gestures();
      stop();
      made.destroy();
      plot.current = null;
    };
  }, [size, scene]);
  return rows;
}

function sceneOf(
  scope: ChartScope,
  data: readonly ReadonlySignal<PanelLines>[],
  left: readonly string[],
  right: readonly string[],
  log: boolean,
): ReadonlySignal<TwoAxisScene> {
  return computed(() => {
    const x = scope.settings.xAxis.value;
    const runs = scope.runs.value;
    const drawn = data.map((one, n) =>
      one.value.lines
        .filter((line) => runs.includes(line.run))
        .map((line) => lookOfLine(line, n, runs.length === 1, data.length > 1)),
    );
    const lines = drawn.flat();
    const window: Range = scope.settings.zooms.value[x] ?? xRange(xExtent(lines.map(({ line }) => line)), false);
    const side = (some: readonly DrawnLine[]) => ({
      lines: some,
      y: valueRange(
        some.map(({ line }) => line),
        { log, clip: "extreme", band: true, window },
      ),
    });
    const onRight = drawn.slice(left.length).flat();
    return {
      x: window,
      xKind: axisKind(x, false),
      xName: visibleText(xLabel(x)),
      log,
      left: side(drawn.slice(0, left.length).flat()),
      right: right.length ? side(onRight) : null,
    };
  });
}

/**
 * One run: a colour for each metric. Several runs: their own colours, and a dash for each metric where there are
 * several.
 */
function lookOfLine(line: DrawnLine["line"], n: number, single: boolean, several: boolean): DrawnLine {
  const own = single && several ? lookOf(n, isDark.value) : lookOfRun(line.run);
  const look = single || !several ? own : { ...own, dash: DASHES[n % DASHES.length] ?? [] };
  return { line, colour: look.colour, dash: look.dash, strong: false, faded: false };
}

function Cover({ states, onRetry }: { states: readonly PanelLines[]; onRetry(): void }) {
  const error = states.find((one) => one.error)?.error;
  if (error)
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
        <p>{error}</p>
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      </div>
    );
  if (states.some((one) => one.lines.length > 0 || one.fresh)) return null;
  const missing = states.flatMap((one) => one.missing);
  return (
    <div class="hstack gap-2 centered small anywhere raised quiet panel-cover">
      <p>{missing[0] ?? "The shown runs did not log this."}</p>
    </div>
  );
}

function LinesLegend({ left, right, single }: { left: readonly string[]; right: readonly string[]; single: boolean }) {
  const keys = [...left, ...right];
  if (keys.length < 2) return null;
  return (
    <ul class="wraps small lines-legend">
      {keys.map((key, n) => {
        const look = single
          ? lookOf(n, isDark.value)
          : { colour: "var(--text-3)", dash: DASHES[n % DASHES.length] ?? [] };
        return (
          <li key={`${n} ${key}`}>
            <svg width="22" height="8" aria-hidden="true">
              <line
                x1="1"
                x2="21"
                y1="4"
                y2="4"
                stroke={look.colour}
                stroke-width="2"
                stroke-dasharray={look.dash.join(" ") || undefined}
              />
            </svg>
            <span class="isolate ellipsis">{wordsOf(key)}</span>
            {n >= left.length ? <span class="quiet">right axis</span> : null}
          </li>
        );
      })}
    </ul>
  );
}

const MOST_ROWS = 14;

function LinesTip({ rows, x }: { rows: readonly TwoAxisRow[]; x: string }) {
  const first = rows[0];
  if (!first) return null;
  return (
    <div class="floating tip lines-tip" role="status">
      <strong>{sayX(x, first.x)}</strong>
      <table>
        <tbody>
          {rows.slice(0, MOST_ROWS).map((row) => (
            <tr key={`${row.id} ${row.drawn.line.key}`}>
              <td>
                <span class="ink" style={{ background: row.drawn.colour }} />
              </td>
              <td class="isolate ellipsis">{visibleText(nameOf(row.run))}</td>
              <td class="isolate ellipsis quiet">{wordsOf(row.drawn.line.key)}</td>
              <td data-number>{Number.isFinite(row.shown) ? formatNumber(row.shown) : row.odd || "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS ? <p class="quiet">{rows.length - MOST_ROWS} more</p> : null}
    </div>
  );
}

function summary(states: readonly PanelLines[], keys: readonly string[], x: string): string {
  const parts = states.map((one, n) => {
    const last = one.lines
      .slice(0, 3)
      .map((line) => `${nameOf(line.run)} ${formatNumber(line.value.findLast(Number.isFinite) ?? Number.NaN)}`);
    return `${wordsOf(keys[n] ?? "")}: ${last.length ? `last values ${last.join(", ")}` : "no lines"}`;
  });
  return `Lines over ${xLabel(x)}. ${parts.join("; ")}`;
}
