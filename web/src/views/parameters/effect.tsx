/** The metric over one parameter: every run, and what the model expects. */

import { useCallback, useMemo, useState } from "preact/hooks";
import { drawEffect } from "../../charts/draw-param-effect";
import { dimOf, markPoint, pointAt } from "../../charts/draw-scatter";
import type { Inks } from "../../charts/inks";
import { Toggle } from "../../components";
import { visibleText } from "../../lib/format";
import { canLog } from "../../lib/param-scale";
import type { ParamColumn } from "../../lib/param-table";
import type { ParameterImportance } from "../../lib/schema";
import { go } from "../../router";
import { Layers, type Size } from "./layers";
import { RunTip } from "./run-tip";
import type { ParamScope } from "./scope";

const boxOf = (size: Size) => ({
  left: 64,
  top: 14,
  width: Math.max(40, size.width - 80),
  height: Math.max(40, size.height - 68),
});

export function EffectPlot({
  scope,
  parameter,
  metric,
}: {
  scope: ParamScope;
  parameter: ParameterImportance;
  metric: string;
}) {
  const x = scope.table.value.byKey.get(parameter.key);
  const y = scope.table.value.metric;
  if (!x || !y) return null;
  return (
    <section class="vstack small effect" aria-label={`Effect of ${visibleText(parameter.label)}`}>
      <header>
        <h2 class="isolate ellipsis">
          {visibleText(metric)} over {visibleText(parameter.label)}
        </h2>
        <span class="spring" />
        {canLog(x) ? <Toggle checked={scope.isLog(x)} label="Log" onChange={() => scope.flip(x)} /> : null}
      </header>
      <Plot scope={scope} parameter={parameter} x={x} y={y} />
      <p class="quiet">
        {parameter.effect
          ? "Dots are runs; the line is the model's prediction, all else being equal."
          : "Dots are runs. There is no model of them."}
      </p>
    </section>
  );
}

function Plot({
  scope,
  parameter,
  x,
  y,
}: {
  scope: ParamScope;
  parameter: ParameterImportance;
  x: ParamColumn;
  y: ParamColumn;
}) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const logs = `${scope.isLog(x)} ${scope.isLog(y)}`;
  const dims = useMemo(() => [dimOf(x, scope.scale(x), 0), dimOf(y, scope.scale(y), 1)] as const, [x, y, logs]);
  const everyone = useMemo(() => new Uint8Array(scope.table.value.size).fill(1), [scope.table.value]);
  const paint = { passing: everyone, shades: scope.shades.value, ramp: scope.ramp.value, ranking: scope.ranking.value };
  const run = scope.hover.value;
  const { effect } = parameter;
  const below = useCallback(
    (ctx: CanvasRenderingContext2D, room: Size, inks: Inks) =>
      drawEffect(ctx, dims[0], dims[1], effect, boxOf(room), paint, inks),
    [dims, effect, ...Object.values(paint)],
  );
  const above = useCallback(
    (ctx: CanvasRenderingContext2D, room: Size, inks: Inks) =>
      run >= 0 && markPoint(ctx, dims[0], dims[1], boxOf(room), run, inks),
    [dims, run],
  );
  const find = (spot: { x: number; y: number }) => pointAt(dims[0], dims[1], boxOf(size), everyone, spot.x, spot.y);
  return (
    <Layers
      label={`${visibleText(y.label)} over ${visibleText(x.label)} of every run, and the model's prediction`}
      cursor={run >= 0 ? "pointer" : "default"}
      below={below}
      above={above}
      onSize={setSize}
      onMove={(spot) => ((scope.hover.value = find(spot)), setAt({ x: spot.x, y: spot.y }))}
      onUp={(spot) => {
        const found = find(spot);
        if (found >= 0) go(`/run/${scope.table.peek().ids[found]}`);
      }}
      onLeave={() => ((scope.hover.value = -1), setAt(null))}
    >
      {run >= 0 && at ? (
        <RunTip scope={scope} run={run} x={at.x} y={at.y} room={size} columns={scope.axes.value} />
      ) : null}
    </Layers>
  );
}
