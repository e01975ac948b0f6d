/** Steps cut into parts: the typical step, a bar a step, percentiles; every part says what it is. */

import { useMemo, useState } from "preact/hooks";
import { drawParts, mostBars, type PartsSpot, partsSpot } from "../../charts/draw-parts";
import { lookOf } from "../../lib/colour";
import { count, visibleText } from "../../lib/format";
import { type Bar, bars, firstEffect, slices } from "../../lib/parts-layout";
import { hues } from "../../lib/profile-hues";
import { exactUnit, formatFactor, formatNs, formatShare } from "../../lib/profile-format";
import type { StepParts } from "../../lib/schema";
import { isDark } from "../../theme";
import { Canvas } from "../charts/canvas";
import { Tip, type TipPlace, tipAt } from "./tip";
import { Checks, Notes } from "./words";

export function PartsCard({ data, noun = "step" }: { data: StepParts; noun?: string }) {
  const [part, setPart] = useState<number | null>(null);
  const colours = hues(data.parts.map((one) => one.key)).map((hue) => lookOf(hue, isDark.value).colour);
  return (
    <section class="card parts" aria-label={visibleText(data.title)}>
      <header class="card-head">
        <h2>{visibleText(data.title)}</h2>
        <span class="quiet">{count(data.steps.length, noun)}</span>
      </header>
      <Typical data={data} colours={colours} part={part} onPart={setPart} />
      {data.steps.length > 1 ? <Bars data={data} colours={colours} noun={noun} onPart={setPart} /> : null}
      <Figures data={data} />
      <Checks checks={data.checks ?? []} />
      <Notes notes={data.notes ?? []} />
    </section>
  );
}

interface TypicalProps {
  data: StepParts;
  colours: readonly string[];
  part: number | null;
  onPart(part: number | null): void;
}

/** One wide bar with a legend: the share of each part in a typical step. */
function Typical({ data, colours, part, onPart }: TypicalProps) {
  const shown = slices(data);
  const tell = (at: number, ns: number, share: number) =>
    visibleText(
      `${data.parts[at]?.label}: ${exactUnit(Math.round(ns))}, ${formatShare(share)} of a typical step\n${data.parts[at]?.help ?? ""}`,
    );
  return (
    <div class="typical" onPointerLeave={() => onPart(null)}>
      <div class="typical-bar" role="img" aria-label="A typical step">
        {shown.map((one) => (
          <span
            key={one.part}
            style={{ flexGrow: one.share, background: colours[one.part] }}
            data-dim={(part !== null && part !== one.part) || undefined}
            title={tell(one.part, one.ns, one.share)}
            onPointerEnter={() => onPart(one.part)}
          />
        ))}
      </div>
      <ul class="wraps small legend">
        {shown.map((one) => (
          <li
            key={one.part}
            title={tell(one.part, one.ns, one.share)}
            data-on={part === one.part || undefined}
            onPointerEnter={() => onPart(one.part)}
          >
            <span class="ink" style={{ background: colours[one.part] }} />
            <span class="isolate">{visibleText(data.parts[one.part]?.label ?? "")}</span>
            <b>{formatShare(one.share)}</b>
            <span class="quiet">{formatNs(one.ns)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface BarsProps {
  data: StepParts;
  colours: readonly string[];
  noun: string;
  onPart(part: number | null): void;
}

function Bars({ data, colours, noun, onPart }: BarsProps) {
  const [width, setWidth] = useState(0);
  const [hover, setHover] = useState<PartsSpot | null>(null);
  const [tip, setTip] = useState<TipPlace | null>(null);
  const found = useMemo(() => bars(data, mostBars(width || 600)), [data, width]);
  const picture = { bars: found, colours, hover };
  const draw = useMemo(
    () =>
      (
        ctx: CanvasRenderingContext2D,
        size: { width: number; height: number },
        inks: Parameters<typeof drawParts>[3],
      ) => {
        if (size.width !== width) setWidth(size.width);
        drawParts(ctx, picture, size, inks);
      },
    [found, hover, colours.join()],
  );
  const bar = hover ? found[hover.bar] : undefined;
  return (
    <div class="parts-bars" onPointerMove={(event) => setTip(tipAt(event))}>
      <Canvas
        label={`${data.title}: a bar a ${noun}`}
        draw={draw}
        onPoint={(px, py, size) => {
          const spot = partsSpot(picture, size, px, py);
          if (spot?.bar !== hover?.bar || spot?.part !== hover?.part) setHover(spot);
          onPart(spot && spot.part >= 0 ? spot.part : null);
        }}
        onLeave={() => (setHover(null), onPart(null))}
      />
      {bar && tip ? (
        <Tip place={tip}>
          <BarTip data={data} bar={bar} part={hover?.part ?? -1} colours={colours} noun={noun} />
        </Tip>
      ) : null}
    </div>
  );
}

function BarTip({
  data,
  bar,
  part,
  colours,
  noun,
}: {
  data: StepParts;
  bar: Bar;
  part: number;
  colours: readonly string[];
  noun: string;
}) {
  const say = (step: number) => step.toLocaleString("en-US");
  const name =
    bar.first === bar.last ? `${noun} ${say(bar.first)}` : `mean of ${noun}s ${say(bar.first)} to ${say(bar.last)}`;
  return (
    <>
      <header>
        <strong>{name}</strong> <span>{formatNs(bar.wall)}</span>
      </header>
      <table>
        <tbody>
          {bar.parts
            .map((ns, at) => ({ ns, at }))
            .filter(({ ns }) => ns > 0)
            .reverse()
            .map(({ ns, at }) => (
              <tr key={at} data-on={at === part || undefined}>
                <td>
                  <span class="ink" style={{ background: colours[at] }} />
                </td>
                <td>{visibleText(data.parts[at]?.label ?? "")}</td>
                <td class="number">{formatNs(ns)}</td>
                <td class="number quiet">{formatShare(bar.wall > 0 ? ns / bar.wall : 0)}</td>
              </tr>
            ))}
        </tbody>
      </table>
      {part >= 0 && data.parts[part]?.help ? <p class="quiet">{visibleText(data.parts[part]?.help ?? "")}</p> : null}
      {bar.odd ? <p class="quiet">The first step is left out of the typical one: warm-up or compilation.</p> : null}
    </>
  );
}

function Figures({ data }: { data: StepParts }) {
  const first = firstEffect(data);
  const figures: [string, string, string][] = [
    ["median step", formatNs(data.p50_ns ?? 0), "Half of the steps are shorter."],
  ];
  if (data.steps.length >= 10) figures.push(["p90", formatNs(data.p90_ns ?? 0), "Nine of ten steps are shorter."]);
  if (data.steps.length >= 50) figures.push(["p99", formatNs(data.p99_ns ?? 0), "99 of 100 steps are shorter."]);
  const usable = data.p50_ns ? figures : [];
  if (first !== null)
    usable.push([
      "first step",
      `${formatFactor(first)} as long`,
      "Warm-up or compilation; it is left out of the typical step.",
    ]);
  if (usable.length === 0) return null;
  return (
    <dl class="figures">
      {usable.map(([name, value, help]) => (
        <div key={name} title={help}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
