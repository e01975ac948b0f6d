/** A card beside the mouse: which run it is, how it came out, what it was set to. */

import { visibleText } from "../../lib/format";
import { cellWords } from "../../lib/param-spoken";
import { cellOf, type ParamColumn } from "../../lib/param-table";
import { inkOfRun } from "../../state";
import type { ParamScope } from "./scope";

const MOST = 12;
const WIDTH = 268;

export interface RunTipProps {
  scope: ParamScope;
  run: number;
  x: number;
  y: number;
  room: { width: number; height: number };
  columns: readonly ParamColumn[];
}

export function RunTip({ scope, run, x, y, room, columns }: RunTipProps) {
  const { ids, names, hues, statuses, metric } = scope.table.value;
  const shown = [...(metric ? [metric] : []), ...columns.filter((column) => column !== metric)].slice(0, MOST);
  const left = x + WIDTH + 24 > room.width ? Math.max(4, x - WIDTH - 16) : x + 16;
  const height = 44 + shown.length * 20;
  const top = Math.max(4, Math.min(y - 12, room.height - height));
  return (
    <div
      class="floating tip run-tip"
      style={{ left: `${left}px`, top: `${top}px`, width: `${WIDTH}px` }}
      role="tooltip"
    >
      <p>
        <span class="ink" style={inkOfRun(ids[run] ?? "", hues[run])} />
        <strong class="isolate ellipsis">{visibleText(names[run] ?? "")}</strong>
        <span class="quiet">{statuses[run]}</span>
      </p>
      <dl>
        {shown.map((column) => (
          <div key={column.key} data-metric={column === metric || undefined}>
            <dt class="isolate ellipsis">{visibleText(column.label)}</dt>
            <dd class="isolate ellipsis">{cellWords(cellOf(column, run))}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
