/** What proves a finding, drawn: the numbers it carries, and the run's own lines with the step marked. */

import { useEffect, useRef, useState } from "preact/hooks";
import { call, isAbort } from "../../lib/api";
import { barsOf, type Drawn, plotOf, type PlotInput, stretchAround, together } from "../../lib/evidence-plot";
import { formatCell, formatNumber, visibleText } from "../../lib/format";
import type { EvidenceSeries, Line, ShownFinding } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { everything } from "../charts/visible";

const SIZE = { width: 300, height: 108 };
const BUCKETS = 240;
const MOST_BARS = 12;

export function Evidence({ finding, run }: { finding: ShownFinding; run: string | undefined }) {
  const lists = finding.series.filter((one) => one.labels.length === 0);
  const named = finding.series.filter((one) => one.labels.length > 0);
  const metrics = run ? finding.metrics : [];
  const place = useRef<HTMLDivElement>(null);
  const near = useNear(place) || everything.value;
  if (lists.length + named.length + metrics.length === 0) return null;
  return (
    <div ref={place} class="evidence">
      {together(lists).map((drawn) => (
        <Numbers key={drawn.names.join(" ")} drawn={drawn} />
      ))}
      {named.map((one) => (
        <Bars key={one.name} series={one} />
      ))}
      {run && metrics.length > 0 ? <Metrics run={near ? run : ""} keys={metrics} step={finding.step} /> : null}
    </div>
  );
}

const INKS = ["var(--level)", "var(--accent)", "var(--text-3)"];

/** Values the rule kept, one after the other. */
function Numbers({ drawn: { names, lines } }: { drawn: Drawn }) {
  const words = lines.map(
    ({ y }, at) => `${names[at]}: ${y.map((value) => formatCell(value === null ? "NaN" : value)).join(", ")}`,
  );
  return (
    <figure class="shrinks evidence-plot">
      <figcaption>
        {names.map((name, at) => (
          <span key={name} class="isolate">
            <i style={{ background: INKS[at] }} aria-hidden="true" /> {visibleText(name)}
          </span>
        ))}
      </figcaption>
      <Plot lines={lines} colours={INKS} label={words.join("; ")} dots={(lines[0]?.x.length ?? 0) <= 24} />
    </figure>
  );
}

interface PlotProps {
  lines: readonly PlotInput[];
  colours: readonly string[];
  label: string;
  mark?: number | null;
  dots?: boolean;
}

function Plot({ lines, colours, label, mark = null, dots = false }: PlotProps) {
  const plot = plotOf(lines, SIZE, mark);
  if (!plot) return <p class="small quiet">nothing finite to draw</p>;
  const { box } = plot;
  const right = box.left + box.width;
  const floor = box.top + box.height;
  return (
    <svg viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} role="img" aria-label={visibleText(label)}>
      {plot.y.map(({ px, text }) => (
        <g key={px}>
          <line class="evidence-grid" x1={box.left} x2={right} y1={px} y2={px} />
          <text class="evidence-tick" x={box.left - 6} y={px + 3.5} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      <line class="evidence-grid" x1={box.left} x2={right} y1={floor} y2={floor} />
      {plot.x.map(({ px, text }) => (
        <text key={px} class="evidence-tick" x={px} y={SIZE.height - 6} text-anchor="middle">
          {text}
        </text>
      ))}
      {plot.mark !== null ? (
        <line class="evidence-mark" x1={plot.mark} x2={plot.mark} y1={box.top - 6} y2={floor} />
      ) : null}
      {plot.paths.map((path, at) => (
        <path key={at} class={dots ? "evidence-line evidence-dots" : "evidence-line"} d={path} stroke={colours[at]} />
      ))}
      {plot.odd.map((at) => (
        <path key={at} class="evidence-odd" d={`M${at - 2.5} ${floor - 5}l5 5m0 -5l-5 5`} />
      ))}
    </svg>
  );
}

/** One value for each name: layers, ranks. */
function Bars({ series }: { series: EvidenceSeries }) {
  const { lengths, log } = barsOf(series.values);
  const shown = series.labels.slice(0, MOST_BARS);
  return (
    <figure class="shrinks evidence-plot">
      <figcaption class="isolate">
        {visibleText(series.name)}
        {log ? <span class="quiet"> (log scale)</span> : null}
      </figcaption>
      <ul class="small evidence-bars">
        {shown.map((label, at) => (
          <li key={`${at} ${label}`}>
            <span class="isolate ellipsis mono" title={visibleText(label)}>
              {visibleText(label)}
            </span>
            <span class="evidence-bar" aria-hidden="true">
              <i style={{ width: `${Math.max(1, (lengths[at] ?? 0) * 100)}%` }} />
            </span>
            <span class="evidence-value">
              {series.values[at] === null ? "NaN" : formatNumber(series.values[at] as number, 3)}
            </span>
          </li>
        ))}
      </ul>
      {series.labels.length > MOST_BARS ? <p class="small quiet">and {series.labels.length - MOST_BARS} more</p> : null}
    </figure>
  );
}

/** The run's own lines; no `run` until the card is near the screen. */
function Metrics({ run, keys, step }: { run: string; keys: readonly string[]; step: number | null }) {
  const lines = useLines(run, keys, step);
  const colour = lookOfRun(run).colour;
  return (
    <>
      {keys.map((key) => {
        const line = lines?.find((one) => one.key === key);
        if (lines && !line) return null;
        return (
          <figure key={key} class="shrinks evidence-plot">
            <figcaption>
              <span class="isolate">
                <i style={{ background: colour }} aria-hidden="true" /> {visibleText(key)}
              </span>
              {step !== null ? <span class="evidence-step">step {step.toLocaleString("en-US")}</span> : null}
            </figcaption>
            {line ? (
              <Plot
                lines={[{ x: line.x, y: line.value }]}
                colours={[colour]}
                mark={step}
                label={`${key} over the steps${step === null ? "" : `, step ${step} marked`}`}
              />
            ) : (
              <div class="evidence-wait" />
            )}
          </figure>
        );
      })}
    </>
  );
}

function useNear(place: { current: Element | null }): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (!place.current || near) return;
    const watch = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && setNear(true), {
      rootMargin: "300px",
    });
    watch.observe(place.current);
    return () => watch.disconnect();
  }, [near]);
  return near;
}

/** The whole line, or around the step where the run is long. */
function useLines(run: string, keys: readonly string[], step: number | null): readonly Line[] | null {
  const [lines, setLines] = useState<readonly Line[] | null>(null);
  useEffect(() => {
    if (!run) return;
    const control = new AbortController();
    const ask = async () => {
      const request = { runs: [run], keys: [...keys], buckets: BUCKETS };
      const whole = await call("POST /api/series", request, { signal: control.signal });
      const last = Math.max(0, ...whole.lines.map((line) => line.x[line.x.length - 1] ?? 0));
      const around = stretchAround(step, last);
      const shown = around
        ? await call("POST /api/series", { ...request, ...around }, { signal: control.signal })
        : whole;
      setLines(shown.lines.filter((line) => !line.superseded));
    };
    ask().catch((fault: unknown) => isAbort(fault) || setLines([])); // the words of the finding stand without them
    return () => control.abort();
  }, [run, keys.join("\u0000"), step]);
  return lines;
}
