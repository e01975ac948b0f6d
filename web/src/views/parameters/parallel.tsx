/** Parallel coordinates: drag along an axis to brush it, drag its name to move it, click a line to open its run. */

import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import {
  axisAt,
  drawParallelAxes,
  drawParallelLines,
  drawParallelRun,
  type ParallelAxis,
  type ParallelLayout,
  parallelLayout,
  parallelRunAt,
} from "../../charts/draw-parallel";
import type { Inks } from "../../charts/inks";
import { SpokenTable } from "../../components/spoken-table";
import { count, visibleText } from "../../lib/format";
import { spokenRuns } from "../../lib/param-spoken";
import { go } from "../../router";
import { AxisTitle } from "./axis-title";
import { clickAxis, type Grip, gripAt, pulled } from "./grip";
import { Layers, type Size, type Spot } from "./layers";
import { RunTip } from "./run-tip";
import type { ParamScope } from "./scope";

const STILL_PX = 4;

export function Parallel({ scope }: { scope: ParamScope }) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const [cursor, setCursor] = useState("default");
  const held = useRef<{ grip: Grip; axis: ParallelAxis; x: number; y: number; moved: boolean } | null>(null);
  const columns = scope.axes.value;
  const logs = columns.map((column) => scope.isLog(column)).join();
  const layout = useMemo<ParallelLayout>(
    () => parallelLayout(columns, (column) => scope.scale(column), size.width, size.height),
    [columns, logs, size],
  );
  const { passing, brushed, shades, ramp, ranking, hover } = scope;
  const paint = {
    passing: passing.value,
    brushed: brushed.value,
    shades: shades.value,
    ramp: ramp.value,
    ranking: ranking.value,
  };
  const below = useCallback(
    (ctx: CanvasRenderingContext2D, _size: Size, inks: Inks) => drawParallelLines(ctx, layout, paint, inks),
    [layout, ...Object.values(paint)],
  );
  const run = hover.value;
  const brushes = scope.brushes.value;
  const above = useCallback(
    (ctx: CanvasRenderingContext2D, _size: Size, inks: Inks) => {
      if (run >= 0 && run < scope.table.peek().size)
        drawParallelRun(ctx, layout, run, scope.colourOf(run, inks.text), inks);
      drawParallelAxes(ctx, layout, (key) => scope.brushOf(key), inks);
    },
    [layout, run, brushes, ramp.value],
  );
  const onDown = ({ x, y }: Spot) => {
    const axis = axisAt(layout, x);
    if (!axis) return;
    held.current = { grip: gripAt(layout, axis, scope.brushOf(axis.column.key), y), axis, x, y, moved: false };
    hover.value = -1;
  };
  const onMove = ({ x, y }: Spot) => {
    const drag = held.current;
    if (drag) {
      drag.moved ||= Math.abs(y - drag.y) > STILL_PX;
      const { key } = drag.axis.column;
      if (drag.moved)
        scope.sketch({ [key]: pulled(layout, drag.axis, scope.settings.brushes.peek()[key], drag.grip, drag.y, y) });
      return;
    }
    const axis = axisAt(layout, x, 8);
    hover.value = axis ? -1 : parallelRunAt(layout, passing.peek(), x, y);
    setAt({ x, y });
    setCursor(
      axis
        ? gripAt(layout, axis, scope.brushOf(axis.column.key), y).kind === "new"
          ? "crosshair"
          : "ns-resize"
        : hover.peek() >= 0
          ? "pointer"
          : "default",
    );
  };
  const onUp = ({ x, y }: Spot) => {
    const drag = held.current;
    held.current = null;
    if (drag?.moved) return scope.settle();
    if (drag)
      return scope.brush(
        drag.axis.column.key,
        clickAxis(layout, drag.axis, scope.brushOf(drag.axis.column.key), drag.grip, y),
      );
    const found = parallelRunAt(layout, passing.peek(), x, y);
    if (found >= 0) go(`/run/${scope.table.peek().ids[found]}`);
  };
  const clear = ({ x }: { x: number }) => {
    const axis = axisAt(layout, x);
    if (axis) scope.brush(axis.column.key, { ranges: [], names: [], missing: false, broken: false });
  };
  const { metric, size: runs } = scope.table.value;
  const gap =
    layout.axes.length > 1 ? (layout.axes[1] as ParallelAxis).x - (layout.axes[0] as ParallelAxis).x : size.width;
  return (
    <div class="parallel">
      <Layers
        label={`Parallel coordinates of ${count(runs, "run")} over ${columns.map((column) => visibleText(column.label)).join(", ")}`}
        cursor={cursor}
        below={below}
        above={above}
        onSize={setSize}
        onDown={onDown}
        onMove={onMove}
        onUp={onUp}
        onLeave={() => ((hover.value = -1), setAt(null))}
        onDouble={clear}
      >
        {(size.width > 0 ? layout.axes : []).map((axis, index) => (
          <AxisTitle
            key={axis.column.key}
            scope={scope}
            column={axis.column}
            x={axis.x}
            width={Math.max(32, Math.min(180, gap - 6))}
            strong={axis.column === metric}
            onDrop={(x) => scope.moveAxis(axis.column.key, placeOf(layout, axis, x))}
            onMove={(by) => scope.moveAxis(axis.column.key, index + by)}
          />
        ))}
        {run >= 0 && at ? <RunTip scope={scope} run={run} x={at.x} y={at.y} room={size} columns={columns} /> : null}
      </Layers>
      <SpokenTable {...spokenRuns(scope.table.value, columns, passing.value, ranking.value)} />
    </div>
  );
}

/** Among the other axes, where a name that was let go at `x` belongs. */
function placeOf(layout: ParallelLayout, moved: ParallelAxis, x: number): number {
  return layout.axes.filter((axis) => axis !== moved && axis.x < x).length;
}
