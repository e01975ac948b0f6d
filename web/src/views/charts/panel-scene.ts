/** How a metric's panel is drawn: its lines, ranges and axes, as one signal. */

import { computed, type ReadonlySignal } from "@preact/signals";
import type { Scene } from "../../charts/line-plot";
import { type PlotLine, type Range, xExtent } from "../../lib/chart-line";
import { allWhole, isBlank, valueRange, xRange } from "../../lib/chart-range";
import { type PanelOptions, panelX, xLabel } from "../../lib/chart-settings";
import type { PanelLines } from "../../lib/chart-store";
import { axisKind, limitsOf, unitOf } from "../../lib/chart-ticks";
import type { PanelInfo } from "../../lib/schema";
import { lookOfRun } from "../../state";
import type { ChartScope } from "./scope";
import { isLinked, sharedRange } from "./y-link";

export interface PanelScene extends Scene {
  x: string;
  /** What the lines need by themselves; null when the panel has a range of its own. */
  fit: Range | null;
}

/**
 * How a panel is drawn right now, as one signal. Ranges are the costly part, so a highlight does not compute them
 * again.
 */
export function sceneOf(
  scope: ChartScope,
  info: PanelInfo,
  data: ReadonlySignal<PanelLines>,
): ReadonlySignal<PanelScene> {
  const alone = computed(() => baseScene(scope, info, data.value));
  const base = computed(() => {
    const scene = alone.value;
    if (!scene.fit || !isLinked(scope, info.section)) return scene;
    return { ...scene, axes: { ...scene.axes, y: sharedRange(scope, info, scene.fit, scene.axes.logY) } };
  });
  return computed(() => {
    const spot = scope.spotlit.value;
    const strong = spot ?? scope.settings.pinnedRun.value;
    const scene = base.value;
    return {
      ...scene,
      lines: scene.lines.map(({ line }) => ({
        line,
        ...lookOfRun(line.run),
        strong: line.run === strong,
        faded: spot !== null && line.run !== spot,
      })),
    };
  });
}

function baseScene(
  { settings, drawn }: ChartScope,
  info: PanelInfo,
  data: PanelLines,
): Omit<PanelScene, "lines"> & { lines: { line: PlotLine }[] } {
  const x = panelX(settings.xAxis.value, info.x);
  const own: PanelOptions = settings.panelOptions.value[info.key] ?? {};
  const logX = settings.logX.value;
  const logY = own.log ?? settings.logY.value;
  const wanted = new Set(drawn.value);
  const lines = data.lines.filter((line) => wanted.has(line.run));
  const asked = settings.zooms.value[x] ?? xRange(xExtent(lines, logX), logX);
  const window: Range = logX && asked[0] <= 0 ? xRange([Number.MIN_VALUE, asked[1]], true) : asked;
  const band = settings.band.value;
  const fixed = own.y && !(logY && own.y[0] <= 0) ? own.y : null;
  const unit = unitOf(info.key);
  const options = { log: logY, clip: settings.clip.value, band, window, ...limitsOf(info.key) };
  const y = fixed ?? valueRange(lines, options);
  const mark = x === "step" && settings.mark.value !== "" ? Number(settings.mark.value) : NaN;
  return {
    x,
    mark: Number.isFinite(mark) ? mark : null,
    fit: fixed || lines.length === 0 ? null : y,
    axes: { x: window, y, logX, logY },
    xKind: axisKind(x, logX),
    xName: xLabel(x),
    yKind: logY ? "log" : unit === "bytes" ? "bytes" : "number",
    wholeX: x === "step",
    wholeY: allWhole(lines, { band, window }),
    blankY: !fixed && isBlank(lines, options),
    band,
    lines: lines.map((line) => ({ line })),
  };
}
