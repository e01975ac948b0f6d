/** Bars, boxes and histograms of one number over runs or groups, as SVG with its numbers beside it. */

import { count, formatBytes, formatDuration, formatNumber, formatTime, visibleText } from "../../lib/format";
import { hashOf, lookOf, spreadSlots } from "../../lib/colour";
import type { RunRow } from "../../lib/schema";
import { type AxisKind, tickLabels, ticks, unitOf } from "../../lib/chart-ticks";
import { type Bin, binsOf, boxOf, spanOf, type Spread, spreads, type Valued, valued } from "../../lib/value-spread";
import { lookOfRun } from "../../state";
import { isDark } from "../../theme";
import { runName } from "../../twins";
import { columnLabel } from "./column-label";

export interface ValuesFigureProps {
  rows: readonly RunRow[];
  name: string;
  grouped: boolean;
  shape: string;
}

const MOST_ROWS = 200;

/** How the numbers of a column are read. */
function kindOf(name: string): AxisKind {
  if (name === "duration") return "duration";
  if (name === "created") return "time";
  return unitOf(name) === "bytes" ? "bytes" : "number";
}

function sayValue(value: number, kind: AxisKind): string {
  if (kind === "duration") return formatDuration(value);
  if (kind === "time") return formatTime(value);
  return kind === "bytes" ? formatBytes(value) : formatNumber(value);
}

export function ValuesFigure({ rows, name, grouped, shape }: ValuesFigureProps) {
  const { values, left } = valued(rows);
  if (name === "") return <p class="none">Choose a value in this panel's settings.</p>;
  if (values.length === 0) return <p class="none">{`None of the runs has a number for ${visibleText(name)}.`}</p>;
  const label = columnLabel(name);
  return (
    <div class="vstack fill-down values-figure">
      {shape === "histogram" ? (
        <Histogram values={values} label={label} kind={kindOf(name)} />
      ) : (
        <Rows values={values} label={label} kind={kindOf(name)} grouped={grouped} box={shape === "box"} />
      )}
      {left > 0 ? <p class="tiny quiet">{count(left, "run")} without this number</p> : null}
    </div>
  );
}

function Rows({
  values,
  label,
  kind,
  grouped,
  box,
}: {
  values: readonly Valued[];
  label: string;
  kind: AxisKind;
  grouped: boolean;
  box: boolean;
}) {
  // A box of one run is a line: without groups there is one box of them all.
  const all =
    box && !grouped
      ? [{ label: "all runs", run: null, values: values.map((one) => one.value) }]
      : spreads(values, grouped);
  const shown = all.slice(0, MOST_ROWS);
  const span = spanOf(shown, !box);
  const at = ticks(...span, 6, kind);
  const percent = (value: number): number => (100 * (value - span[0])) / (span[1] - span[0]);
  const slots = spreadSlots(
    shown.map((row) => row.label),
    hashOf,
  );
  const colour = (row: Spread): string =>
    (row.run ? lookOfRun(row.run) : lookOf(slots.get(row.label), isDark.value)).colour;
  return (
    <table class="full small values-rows" aria-label={label}>
      <colgroup>
        <col class="values-names" />
        <col />
        <col class="values-numbers" />
      </colgroup>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">{grouped ? "group" : "run"}</th>
          <th scope="col">drawn</th>
          <th scope="col">{label}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((row) => (
          <tr key={row.run ?? row.label}>
            <th scope="row" class="isolate ellipsis" title={titleOf(row)}>
              {titleOf(row)}
            </th>
            <td class="values-cell">
              <svg width="100%" aria-hidden="true">
                {at.map((tick) => (
                  <line
                    key={tick}
                    class="values-grid"
                    x1={`${percent(tick)}%`}
                    x2={`${percent(tick)}%`}
                    y1="0"
                    y2="100%"
                  />
                ))}
                {box ? (
                  <BoxMark row={row} percent={percent} colour={colour(row)} />
                ) : (
                  <BarMark row={row} percent={percent} colour={colour(row)} />
                )}
              </svg>
            </td>
            <td data-number title={row.values.length > 1 ? `${count(row.values.length, "run")}` : undefined}>
              {sayValue(box ? (boxOf(row.values)?.median ?? Number.NaN) : mean(row.values), kind)}
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr aria-hidden="true">
          <td />
          <td class="values-cell values-axis">
            <Axis at={at} percent={percent} kind={kind} />
          </td>
          <td class="quiet">{grouped ? (box ? "median" : "mean") : ""}</td>
        </tr>
      </tfoot>
    </table>
  );
}

function Axis({ at, percent, kind }: { at: readonly number[]; percent(value: number): number; kind: AxisKind }) {
  const labels = tickLabels(at, kind);
  return at.map((tick, n) => (
    <span key={tick} style={{ left: `${percent(tick)}%` }}>
      {labels[n]}
    </span>
  ));
}

/** A run's row is named as the run is elsewhere, a group's by its value. */
const titleOf = (row: Spread): string => (row.run ? runName(row.run, row.label) : visibleText(row.label));

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

interface MarkProps {
  row: Spread;
  percent(value: number): number;
  colour: string;
}

/** A bar to the mean, with a whisker from the least to the greatest run of a group. */
function BarMark({ row, percent, colour }: MarkProps) {
  const zero = percent(0);
  const end = percent(mean(row.values));
  const [low, high] = [percent(Math.min(...row.values)), percent(Math.max(...row.values))];
  return (
    <>
      <rect
        x={`${Math.min(zero, end)}%`}
        width={`${Math.max(0.3, Math.abs(end - zero))}%`}
        y="18%"
        height="64%"
        rx="2"
        fill={colour}
      />
      {row.values.length > 1 ? <line class="values-whisker" x1={`${low}%`} x2={`${high}%`} y1="50%" y2="50%" /> : null}
    </>
  );
}

function BoxMark({ row, percent, colour }: MarkProps) {
  const box = boxOf(row.values);
  if (!box) return null;
  const part = (value: number): string => `${percent(value)}%`;
  return (
    <>
      <line class="values-whisker" x1={part(box.low)} x2={part(box.high)} y1="50%" y2="50%" />
      <rect
        x={part(box.q1)}
        width={`${Math.max(0.3, percent(box.q3) - percent(box.q1))}%`}
        y="18%"
        height="64%"
        rx="2"
        fill={colour}
        fill-opacity="0.35"
        stroke={colour}
      />
      <line x1={part(box.median)} x2={part(box.median)} y1="14%" y2="86%" stroke={colour} stroke-width="2.5" />
      {box.outliers.slice(0, 50).map((value, n) => (
        <circle key={n} cx={part(value)} cy="50%" r="2.5" fill="none" stroke={colour} />
      ))}
    </>
  );
}

function Histogram({ values, label, kind }: { values: readonly Valued[]; label: string; kind: AxisKind }) {
  const bins = binsOf(values.map((one) => one.value));
  const most = Math.max(...bins.map((bin) => bin.count));
  const [low, high] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 0];
  const between = (bin: Bin): string => `${sayValue(bin.from, kind)} to ${sayValue(bin.to, kind)}`;
  const words = bins.map((bin) => `${between(bin)}: ${bin.count}`).join("; ");
  return (
    <figure class="vstack values-histogram">
      <div class="values-bins" role="img" aria-label={`${label}, ${count(values.length, "run")}. ${words}`}>
        {bins.map((bin) => (
          <span key={bin.from} title={`${between(bin)}: ${count(bin.count, "run")}`}>
            <i style={{ height: `${(100 * bin.count) / most}%` }} data-empty={bin.count === 0 || undefined} />
          </span>
        ))}
      </div>
      <div class="values-axis" aria-hidden="true">
        {low === high ? (
          <span style={{ left: "50%" }}>{sayValue(low, kind)}</span>
        ) : (
          <Axis at={ticks(low, high, 6, kind)} percent={(value) => (100 * (value - low)) / (high - low)} kind={kind} />
        )}
      </div>
      <figcaption>
        {label}, up to {count(most, "run")} in a bar
      </figcaption>
    </figure>
  );
}
