/** How the best value improved over time, run after run. */

import { useCallback, useMemo, useState } from "preact/hooks";
import { bestAt, bestBox, bestPixel, type BestPlot, drawBest } from "../../charts/draw-param-best";
import { type Inks, readInks } from "../../charts/inks";
import { Button } from "../../components";
import { Segments } from "../../components/segments";
import { count, formatNumber, formatTime, visibleText } from "../../lib/format";
import { bestSoFar } from "../../lib/param-table";
import { oneOf } from "../../lib/url";
import { go, param } from "../../router";
import { goal as chosenGoal } from "./data";
import { Layers, type Size } from "./layers";
import { RunTip } from "./run-tip";
import type { ParamScope } from "./scope";

type X = "ended" | "started" | "number";
const axis = param<X>("bestx", "ended", oneOf<X>("ended", "started", "number"), true);

export function Best({ scope }: { scope: ParamScope }) {
  const { metric, goal } = scope.table.value;
  if (!metric) return <p class="none">These runs have no metric to rank them by.</p>;
  if (!goal)
    return (
      <div class="best-ask">
        <p>
          Is a lower or a higher <b class="isolate">{visibleText(metric.label)}</b> better?
        </p>
        <Button onClick={() => (chosenGoal.value = "min")}>Lower is better</Button>
        <Button onClick={() => (chosenGoal.value = "max")}>Higher is better</Button>
        <p class="quiet">
          <code>run.define("{visibleText(scope.table.value.metricName ?? "")}", goal="max")</code> sets it permanently.
        </p>
      </div>
    );
  return <BestBody scope={scope} goal={goal} />;
}

function BestBody({ scope, goal }: { scope: ParamScope; goal: "min" | "max" }) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const table = scope.table.value;
  const metric = table.metric;
  const by = axis.value === "started" ? "created" : "ended";
  const so = useMemo(() => bestSoFar(table, goal, by, scope.passing.value), [table, goal, by, scope.passing.value]);
  const plot = useMemo<BestPlot | null>(
    () =>
      metric && {
        so,
        values: metric.values,
        scale: scope.scale(metric),
        x: axis.value === "number" ? "number" : "time",
        colourOf: (run) => scope.colourOf(run, readInks().quiet),
        names: table.names.map(visibleText),
      },
    [so, metric, axis.value, scope.ramp.value, scope.shades.value],
  );
  const run = scope.hover.value;
  const below = useCallback(
    (ctx: CanvasRenderingContext2D, room: Size, inks: Inks) => plot && drawBest(ctx, plot, room, inks),
    [plot],
  );
  const above = useCallback(
    (ctx: CanvasRenderingContext2D, room: Size, inks: Inks) => {
      const place = plot ? plot.so.order.indexOf(run) : -1;
      if (!plot || place < 0) return;
      const { x, y } = bestPixel(plot, bestBox(room), place);
      ctx.strokeStyle = inks.text;
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(x, y, 7, 0, 7);
      ctx.stroke();
    },
    [plot, run],
  );
  if (!metric || !plot) return null;
  const find = (spot: { x: number; y: number }): number => {
    const place = bestAt(plot, size, spot.x, spot.y);
    return place < 0 ? -1 : (so.order[place] as number);
  };
  const last = so.improved[so.improved.length - 1];
  const winner = last === undefined ? null : (so.order[last] as number);
  return (
    <div class="best">
      <div class="hstack gap-4 small scatter-bar">
        <Segments
          label="Runs by"
          value={axis.value}
          options={[
            { value: "ended", label: "When they ended" },
            { value: "started", label: "When they started" },
            { value: "number", label: "Number of runs" },
          ]}
          onChange={(x) => (axis.value = x)}
        />
        {winner === null ? (
          <span class="quiet">No run has a finite value.</span>
        ) : (
          <span>
            Best: <b>{formatNumber(metric.values[winner] as number)}</b> by{" "}
            <button type="button" class="link isolate" onClick={() => go(`/run/${table.ids[winner]}`)}>
              {visibleText(table.names[winner] ?? "")}
            </button>
            , {formatTime(so.times[last as number] as number)}; improved {count(so.improved.length, "time")} in{" "}
            {count(so.order.length, "run")}
            {so.order.length - 1 - (last as number) > 0
              ? `, not in the last ${so.order.length - 1 - (last as number)}`
              : ""}
          </span>
        )}
      </div>
      <Layers
        label={`Best ${visibleText(metric.label)} so far over ${count(so.order.length, "run")}`}
        cursor={run >= 0 ? "pointer" : "default"}
        below={below}
        above={above}
        onSize={setSize}
        onMove={(spot) => ((scope.hover.value = find(spot)), setAt({ x: spot.x, y: spot.y }))}
        onUp={(spot) => {
          const found = find(spot);
          if (found >= 0) go(`/run/${table.ids[found]}`);
        }}
        onLeave={() => ((scope.hover.value = -1), setAt(null))}
      >
        {run >= 0 && at ? (
          <RunTip scope={scope} run={run} x={at.x} y={at.y} room={size} columns={scope.axes.value} />
        ) : null}
      </Layers>
    </div>
  );
}
