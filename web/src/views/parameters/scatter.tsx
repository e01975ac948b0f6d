/** Every pair of a few columns, linked: what is brushed in one cell is kept in all. A click enlarges a cell. */

import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import {
  type Dim,
  dimOf,
  drawLargeScatter,
  drawRubber,
  drawScatterMatrix,
  largeBox,
  markPoint,
  placesAt,
  pointAt,
  type ScatterCell,
  scatterCells,
} from "../../charts/draw-scatter";
import type { Inks } from "../../charts/inks";
import { Button, Toggle } from "../../components";
import { ChevronLeftIcon } from "../../components/icons";
import { SpokenTable } from "../../components/spoken-table";
import type { Box } from "../../lib/chart-project";
import { count, visibleText } from "../../lib/format";
import { spokenRuns } from "../../lib/param-spoken";
import { type Brush, type Brushes, NO_BRUSH } from "../../lib/param-brush";
import { canLog } from "../../lib/param-scale";
import type { ParamColumn } from "../../lib/param-table";
import { go } from "../../router";
import { Layers, type Size, type Spot } from "./layers";
import { RunTip } from "./run-tip";
import type { ParamScope } from "./scope";

const STILL_PX = 5;

export function Scatter({ scope }: { scope: ParamScope }) {
  const [large, setLarge] = useState<readonly [string, string] | null>(null);
  const x = large && scope.table.value.byKey.get(large[0]);
  const y = large && scope.table.value.byKey.get(large[1]);
  if (x && y) return <LargeScatter scope={scope} x={x} y={y} onBack={() => setLarge(null)} />;
  return <Matrix scope={scope} onLarge={setLarge} />;
}

function paintOf(scope: ParamScope) {
  return {
    passing: scope.passing.value,
    shades: scope.shades.value,
    ramp: scope.ramp.value,
    ranking: scope.ranking.value,
  };
}

/** Dims are made anew only when a column or its scale changes. */
function useDims(scope: ParamScope, columns: readonly ParamColumn[]): Dim[] {
  const logs = columns.map((column) => scope.isLog(column)).join();
  return useMemo(() => columns.map((column, at) => dimOf(column, scope.scale(column), at)), [columns, logs]);
}

interface Drag {
  cell: ScatterCell;
  from: { x: number; y: number };
  to: { x: number; y: number };
  moved: boolean;
}

function Matrix({ scope, onLarge }: { scope: ParamScope; onLarge(pair: readonly [string, string]): void }) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [at, setAt] = useState<{ x: number; y: number; columns: ParamColumn[] } | null>(null);
  const [rubber, setRubber] = useState<Drag | null>(null);
  const held = useRef<Drag | null>(null);
  const columns = scope.dims.value;
  const dims = useDims(scope, columns);
  const cells = useMemo(() => scatterCells(dims.length, size.width, size.height), [dims.length, size]);
  const paint = paintOf(scope);
  const run = scope.hover.value;
  const below = useCallback(
    (ctx: CanvasRenderingContext2D, _size: Size, inks: Inks) => drawScatterMatrix(ctx, dims, cells, paint, inks),
    [dims, cells, ...Object.values(paint)],
  );
  const above = useCallback(
    (ctx: CanvasRenderingContext2D, _size: Size, inks: Inks) => {
      if (run >= 0)
        for (const { row, column, box } of cells)
          if (row !== column) markPoint(ctx, dims[column] as Dim, dims[row] as Dim, box, run, inks);
      if (rubber?.moved) drawRubber(ctx, rubber.from, rubber.to, inks);
    },
    [dims, cells, run, rubber],
  );
  const cellAt = ({ x, y }: { x: number; y: number }) =>
    cells.find(({ box }) => x >= box.left && x <= box.left + box.width && y >= box.top && y <= box.top + box.height);
  const onDown = (spot: Spot) => {
    const cell = cellAt(spot);
    held.current = cell ? { cell, from: { x: spot.x, y: spot.y }, to: { x: spot.x, y: spot.y }, moved: false } : null;
  };
  const onMove = (spot: Spot) => {
    const drag = held.current;
    if (drag) {
      const next = {
        ...drag,
        to: within(drag.cell.box, spot),
        moved: drag.moved || Math.hypot(spot.x - drag.from.x, spot.y - drag.from.y) > STILL_PX,
      };
      held.current = next;
      setRubber(next);
      if (next.moved) scope.sketch(brushOfDrag(dims, next));
      return;
    }
    const cell = cellAt(spot);
    const isPair = cell && cell.row !== cell.column;
    scope.hover.value = isPair
      ? pointAt(dims[cell.column] as Dim, dims[cell.row] as Dim, cell.box, scope.passing.peek(), spot.x, spot.y)
      : -1;
    setAt({
      x: spot.x,
      y: spot.y,
      columns: isPair ? [columns[cell.column] as ParamColumn, columns[cell.row] as ParamColumn] : [],
    });
  };
  const onUp = () => {
    const drag = held.current;
    held.current = null;
    setRubber(null);
    if (!drag) return;
    if (drag.moved) scope.settle();
    else if (drag.cell.row !== drag.cell.column)
      onLarge([(columns[drag.cell.column] as ParamColumn).key, (columns[drag.cell.row] as ParamColumn).key]);
  };
  return (
    <div class="vstack scatter">
      <Layers
        label={`Scatter plots of every pair of ${columns.map((column) => visibleText(column.label)).join(", ")} for ${count(scope.table.value.size, "run")}`}
        cursor="crosshair"
        below={below}
        above={above}
        onSize={setSize}
        onDown={onDown}
        onMove={onMove}
        onUp={onUp}
        onLeave={() => ((scope.hover.value = -1), setAt(null))}
      >
        <PairList columns={columns} onLarge={onLarge} />
        {run >= 0 && at ? <RunTip scope={scope} run={run} x={at.x} y={at.y} room={size} columns={at.columns} /> : null}
      </Layers>
      <SpokenTable {...spokenRuns(scope.table.value, columns, paint.passing, paint.ranking)} />
    </div>
  );
}

/** The same as clicking a cell, for the keyboard: in the empty corner of the matrix. */
function PairList({
  columns,
  onLarge,
}: {
  columns: readonly ParamColumn[];
  onLarge(pair: readonly [string, string]): void;
}) {
  const pairs = columns.flatMap((y, row) => columns.slice(0, row).map((x) => [x, y] as const));
  return (
    <label class="inline gap-2 small scatter-pick">
      <span class="quiet">Enlarge</span>
      <select
        class="select"
        aria-label="Enlarge a pair"
        value=""
        onChange={(event) =>
          event.currentTarget.value && onLarge(JSON.parse(event.currentTarget.value) as [string, string])
        }
      >
        <option value="">a pair …</option>
        {pairs.map(([x, y]) => (
          <option key={`${x.key} ${y.key}`} value={JSON.stringify([x.key, y.key])}>
            {visibleText(y.label)} over {visibleText(x.label)}
          </option>
        ))}
      </select>
    </label>
  );
}

const within = (box: Box, { x, y }: { x: number; y: number }) => ({
  x: Math.max(box.left, Math.min(box.left + box.width, x)),
  y: Math.max(box.top, Math.min(box.top + box.height, y)),
});

/** The brushes of both columns that a rectangle means; on the diagonal there is one column only. */
function brushOfDrag(dims: readonly Dim[], { cell, from, to }: Drag): Brushes {
  const [x0, y0] = placesAt(cell.box, from.x, from.y);
  const [x1, y1] = placesAt(cell.box, to.x, to.y);
  const x = dims[cell.column] as Dim;
  const y = dims[cell.row] as Dim;
  if (cell.row === cell.column) return { [x.column.key]: between(x, x0, x1) };
  return { [x.column.key]: between(x, x0, x1), [y.column.key]: between(y, y0, y1) };
}

function between({ column, scale }: Dim, a: number, b: number): Brush {
  const low = Math.max(0, Math.min(a, b));
  const high = Math.min(1, Math.max(a, b));
  if (column.kind === "number") return { ...NO_BRUSH, ranges: [[scale.value(low), scale.value(high)]] };
  return {
    ...NO_BRUSH,
    names: column.names.filter((_, at) => scale.place(at + 0.5) > low && scale.place(at - 0.5) < high),
  };
}

export function LargeScatter({
  scope,
  x,
  y,
  onBack,
}: {
  scope: ParamScope;
  x: ParamColumn;
  y: ParamColumn;
  onBack?: () => void;
}) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const [rubber, setRubber] = useState<Drag | null>(null);
  const held = useRef<Drag | null>(null);
  const columns = useMemo(() => [x, y], [x, y]);
  const dims = useDims(scope, columns) as [Dim, Dim];
  const paint = paintOf(scope);
  const run = scope.hover.value;
  const box = largeBox(size.width, size.height);
  const below = useCallback(
    (ctx: CanvasRenderingContext2D, room: Size, inks: Inks) =>
      drawLargeScatter(ctx, dims[0], dims[1], room, paint, inks),
    [dims, ...Object.values(paint)],
  );
  const above = useCallback(
    (ctx: CanvasRenderingContext2D, room: Size, inks: Inks) => {
      if (run >= 0) markPoint(ctx, dims[0], dims[1], largeBox(room.width, room.height), run, inks);
      if (rubber?.moved) drawRubber(ctx, rubber.from, rubber.to, inks);
    },
    [dims, run, rubber],
  );
  const find = (spot: { x: number; y: number }) => pointAt(dims[0], dims[1], box, scope.passing.peek(), spot.x, spot.y);
  const onMove = (spot: Spot) => {
    const drag = held.current;
    if (!drag) {
      scope.hover.value = find(spot);
      return setAt({ x: spot.x, y: spot.y });
    }
    held.current = {
      ...drag,
      to: within(box, spot),
      moved: drag.moved || Math.hypot(spot.x - drag.from.x, spot.y - drag.from.y) > STILL_PX,
    };
    setRubber(held.current);
    if (held.current.moved) scope.sketch(brushOfDrag(dims, held.current));
  };
  const onUp = (spot: Spot) => {
    const drag = held.current;
    held.current = null;
    setRubber(null);
    if (drag?.moved) return scope.settle();
    const found = find(spot);
    if (found >= 0) go(`/run/${scope.table.peek().ids[found]}`);
  };
  const absent = scope.table.value.ids.filter(
    (_, at) => Number.isNaN(x.values[at] as number) || Number.isNaN(y.values[at] as number),
  ).length;
  return (
    <div class="vstack scatter">
      <div class="hstack gap-4 small scatter-bar">
        {onBack ? (
          <Button kind="quiet" onClick={onBack}>
            <ChevronLeftIcon size={14} /> All pairs
          </Button>
        ) : null}
        {columns.map((column) =>
          canLog(column) ? (
            <Toggle
              key={column.key}
              checked={scope.isLog(column)}
              label={`Log ${visibleText(column.label)}`}
              onChange={() => scope.flip(column)}
            />
          ) : null,
        )}
        {absent > 0 ? <span class="quiet">{count(absent, "run")} without both values not drawn</span> : null}
      </div>
      <Layers
        label={`${visibleText(y.label)} over ${visibleText(x.label)}`}
        cursor={run >= 0 ? "pointer" : "crosshair"}
        below={below}
        above={above}
        onSize={setSize}
        onDown={(spot) =>
          (held.current = {
            cell: { row: 1, column: 0, box },
            from: within(box, spot),
            to: within(box, spot),
            moved: false,
          })
        }
        onMove={onMove}
        onUp={onUp}
        onLeave={() => ((scope.hover.value = -1), setAt(null))}
      >
        {run >= 0 && at ? (
          <RunTip scope={scope} run={run} x={at.x} y={at.y} room={size} columns={scope.axes.value} />
        ) : null}
      </Layers>
      <SpokenTable {...spokenRuns(scope.table.value, columns, paint.passing, paint.ranking)} />
    </div>
  );
}
