/** One cell of the metric table, and the card that tells how its test was made. */

import { Popover, Skeleton } from "../../components";
import { isBest } from "../../lib/compare-export";
import { changeOf, changeWords, CLEAR, pWords, valueWords } from "../../lib/compare-table";
import { count, cutMiddle, formatNumber, visibleText } from "../../lib/format";
import type { CompareColumn, MetricRow, Significance, SignificanceSide } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { useAnswer } from "./answer";
import { labelOf, useColours } from "./column-name";
import type { Stat } from "./state";

/** What a test needs besides its two columns. */
export interface Ask {
  runs: readonly string[];
  by: readonly string[];
  stat: Stat;
  columns: readonly CompareColumn[];
}

interface CellProps {
  row: MetricRow;
  at: number;
  base: number;
  grouped: boolean;
}

/** A pure function of its numbers: a table may hold thousands. */
export function MetricCell({ row, at, base, grouped }: CellProps) {
  const value = row.value[at];
  const change = changeOf(row, at, base);
  const p = row.p_holm[at] ?? null;
  const odd = row.odd[at] ?? 0;
  const n = row.n[at] ?? 0;
  const inside = (
    <>
      <span
        class="metric-value"
        data-odd={typeof value === "string" || undefined}
        title={typeof value === "number" ? String(value) : undefined}
      >
        {valueWords(value, row.std[at]) || <span class="quiet">–</span>}
        {odd > 0 ? (
          <b class="odd" title={`${count(odd, "run")} not finite`}>
            {" "}
            {odd}×NaN
          </b>
        ) : null}
      </span>
      <span class="gap-2 tiny quiet metric-change">
        {change ? <span data-better={change.better ?? undefined}>{changeWords(change)}</span> : null}
        {p !== null ? (
          <span class="metric-p" data-clear={p < CLEAR || undefined}>
            {pWords(p)}
          </span>
        ) : null}
        {grouped && at === base && n > 0 ? <span>n = {n}</span> : null}
      </span>
    </>
  );
  const testable = grouped && at !== base && value !== null;
  return (
    <td data-best={isBest(row, at) || undefined} data-base={at === base || undefined}>
      {testable ? (
        <button type="button" class="vstack centered full metric-cell" data-at={at} aria-haspopup="dialog">
          {inside}
        </button>
      ) : (
        <span class="vstack centered full metric-cell">{inside}</span>
      )}
    </td>
  );
}

/** The cell that was clicked. */
export interface OpenCell {
  row: MetricRow;
  at: number;
  anchor: HTMLElement;
}

export function TestPopover({ open, base, ask, onClose }: { open: OpenCell; base: number; ask: Ask; onClose(): void }) {
  const { row, at, anchor } = open;
  return (
    <Popover anchor={anchor} label={`${row.key}: is it chance?`} align="end" class="test-card" onClose={onClose}>
      <TestCard
        metric={row.key}
        a={ask.columns[base]?.id ?? ""}
        b={ask.columns[at]?.id ?? ""}
        ask={ask}
        holm={row.p_holm[at] ?? null}
      />
    </Popover>
  );
}

function TestCard({
  metric,
  a,
  b,
  ask,
  holm,
}: {
  metric: string;
  a: string;
  b: string;
  ask: Ask;
  holm: number | null;
}) {
  const request = { runs: [...ask.runs], by: [...ask.by], stat: ask.stat, metric, a, b };
  const answer = useAnswer("POST /api/compare/test", request, ask.runs);
  const colours = useColours({ columns: [...ask.columns], by: [...ask.by], gone: [], omitted: 0 });
  const found = answer.data;
  if (answer.fault)
    return <p role="alert">{answer.fault instanceof Error ? answer.fault.message : String(answer.fault)}</p>;
  if (!found) return <Skeleton height={160} />;
  const colour = (id: string) => lookOfRun(colours.get(id) ?? id).colour;
  return (
    <>
      <h3 class="isolate">
        {visibleText(found.metric)}, {found.stat}
      </h3>
      <Strip found={found} colours={[colour(a), colour(b)]} />
      <p class="test-verdict">{verdict(found, holm)}</p>
      <dl class="facts facts-apart test-numbers">
        <Row name="Difference of the means" value={signed(found.difference)} />
        {found.p === null ? null : (
          <>
            <Row name="95% interval (Welch)" value={`${signed(found.low)} to ${signed(found.high)}`} />
            <Row
              name="95% interval (bootstrap, 10,000 resamples)"
              value={`${signed(found.bootstrap_low)} to ${signed(found.bootstrap_high)}`}
            />
            <Row
              name={`Welch's t = ${formatNumber(found.t ?? 0, 3)}, ${formatNumber(found.df ?? 0, 3)} degrees`}
              value={pWords(found.p)}
            />
            {holm === null ? null : <Row name="corrected by Holm for the whole table" value={pWords(holm)} strong />}
            {found.permutation_p === null ? null : (
              <Row
                name={`Permutation test, ${found.all_deals ? `all ${count(found.deals, "deal")}` : count(found.deals, "random deal")}`}
                value={pWords(found.permutation_p)}
              />
            )}
            {found.effect === null ? null : <Row name="Effect (Hedges' g)" value={formatNumber(found.effect, 3)} />}
          </>
        )}
      </dl>
    </>
  );
}

const Row = ({ name, value, strong = false }: { name: string; value: string; strong?: boolean }) => (
  <div data-strong={strong || undefined}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

const signed = (value: number | null): string =>
  value === null ? "–" : `${value > 0 ? "+" : ""}${formatNumber(value, 3)}`;

function verdict(found: Significance, holm: number | null): string {
  if (found.why_not) return `Not tested: ${found.why_not}.`;
  const p = holm ?? found.p ?? 1;
  const few = Math.min(found.a.n, found.b.n) < 5 ? ` With n = ${found.a.n} and ${found.b.n} every test is rough.` : "";
  if (p < CLEAR)
    return `Unlikely to be chance: a difference like this comes up by luck in fewer than 5 of 100 tables.${few}`;
  return `May be chance.${few}`;
}

const WIDTH = 300;
const LANE = 30;

/** Every run as a dot, the means as bars. */
function Strip({ found, colours }: { found: Significance; colours: readonly [string, string] }) {
  const sides = [found.a, found.b];
  const all = sides.flatMap(numbers);
  if (all.length === 0) return null;
  const low = Math.min(...all);
  const range = Math.max(...all) - low;
  const x = (value: number) => 8 + (range === 0 ? 0.5 : (value - low) / range) * (WIDTH - 16);
  return (
    <svg
      class="full block test-strip"
      viewBox={`0 0 ${WIDTH} ${LANE * 2 + 26}`}
      role="img"
      aria-label={sides
        .map(
          (side) =>
            `${labelOf(side.column)}: ${numbers(side)
              .map((v) => formatNumber(v))
              .join(", ")}`,
        )
        .join("; ")}
    >
      {sides.map((side, lane) => (
        <g key={side.column.id} transform={`translate(0 ${lane * LANE})`}>
          <text x="8" y="10" class="test-lane">
            {cutMiddle(labelOf(side.column), 40)}, n = {side.n}
          </text>
          <line x1="8" x2={WIDTH - 8} y1="20" y2="20" class="test-rail" />
          {side.mean === null ? null : (
            <line x1={x(side.mean)} x2={x(side.mean)} y1="13" y2="27" stroke={colours[lane]} stroke-width="2" />
          )}
          {numbers(side).map((value, at) => (
            <circle key={at} cx={x(value)} cy="20" r="4" fill={colours[lane]} fill-opacity="0.55" />
          ))}
        </g>
      ))}
      <text x="8" y={LANE * 2 + 18} class="test-lane">
        {formatNumber(low)}
      </text>
      <text x={WIDTH - 8} y={LANE * 2 + 18} class="test-lane" text-anchor="end">
        {formatNumber(low + range)}
      </text>
    </svg>
  );
}

const numbers = (side: SignificanceSide): number[] =>
  side.values.filter((value): value is number => typeof value === "number");
