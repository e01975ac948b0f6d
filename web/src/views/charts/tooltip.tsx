/** All runs' values under the crosshair, the nearest one marked. One for each board; it shows for its own panels. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { type HoverRow, rowsAround } from "../../lib/chart-hover";
import { swatch } from "../../lib/colour";
import { formatNumber } from "../../lib/format";
import { held, releaseHover, tip } from "./hover";
import { useScope } from "./scope";
import { lookOfRun } from "../../state";
import { runName } from "../../twins";
import { sayX } from "./words";

const MOST_ROWS = 16;
const GAP_PX = 16;

export function ChartTooltip() {
  const box = useRef<HTMLDivElement>(null);
  const { id } = useScope();
  const now = tip.value?.source.startsWith(`${id} `) ? tip.value : null;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !now) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = now.clientX + GAP_PX + width > innerWidth - 8 ? now.clientX - GAP_PX - width : now.clientX + GAP_PX;
    const top = Math.min(Math.max(8, now.clientY - 24), innerHeight - height - 8);
    element.style.transform = `translate(${Math.max(8, Math.round(left))}px, ${Math.round(top)}px)`;
  });
  if (!now || now.rows.length === 0) return null;
  const around = rowsAround(now.rows, now.nearest, MOST_ROWS);
  const near = now.rows[now.nearest];
  return (
    <div ref={box} class="floating tip chart-tip" data-held={held.value || undefined} role="tooltip">
      <header>
        <strong>{sayX(now.axis, now.value)}</strong>
        {held.value ? (
          <button type="button" onClick={releaseHover}>
            release
          </button>
        ) : null}
      </header>
      {around.above > 0 ? <p class="tip-more">{around.above} above</p> : null}
      <table>
        <tbody>
          {around.rows.map((row) => (
            <TipRow key={row.id} row={row} nearest={row === near} />
          ))}
        </tbody>
      </table>
      {around.below > 0 ? <p class="tip-more">{around.below} below</p> : null}
    </div>
  );
}

function TipRow({ row, nearest }: { row: HoverRow; nearest: boolean }) {
  const look = lookOfRun(row.run);
  const spread = row.low !== row.high && Number.isFinite(row.low) && Number.isFinite(row.high);
  const aside = [
    row.smoothed ? `raw ${formatNumber(row.raw)}` : "",
    spread ? `${formatNumber(row.low)} – ${formatNumber(row.high)}` : "",
  ].filter(Boolean);
  return (
    <tr data-nearest={nearest || undefined}>
      <td>
        <span class="ink" style={{ background: swatch(look) }} />
      </td>
      <td class="tip-name isolate">
        {runName(row.run)}
        {row.rank > 0 ? <i> rank {row.rank}</i> : null}
        {row.superseded ? <i> superseded</i> : null}
      </td>
      <td class="tip-value">
        {row.odd && !Number.isFinite(row.shown) ? <b class="odd">{row.odd}</b> : formatNumber(row.shown)}
      </td>
      <td class="quiet">
        {aside.join(" · ")}
        {row.odd && Number.isFinite(row.shown) ? <b class="odd"> {row.odd}</b> : null}
      </td>
    </tr>
  );
}
