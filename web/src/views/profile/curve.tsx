/** Lines over the time of the profile: memory, for instance, with its peak marked. */

import { useMemo, useState } from "preact/hooks";
import { curveSpot, drawCurve, peakOf } from "../../charts/draw-curve";
import { lookOf } from "../../lib/colour";
import { visibleText } from "../../lib/format";
import { hues } from "../../lib/profile-hues";
import { exactUnit, formatNs, formatUnit } from "../../lib/profile-format";
import type { Curve } from "../../lib/schema";
import { isDark } from "../../theme";
import { Canvas } from "../charts/canvas";
import { Tip, type TipPlace, tipAt } from "./tip";
import { Notes } from "./words";

export function CurveCard({ curve }: { curve: Curve }) {
  const names = Object.keys(curve.lines);
  const colours = hues(names).map((hue) => lookOf(hue, isDark.value).colour);
  const peak = useMemo(() => peakOf(curve), [curve]);
  const [hover, setHover] = useState<number | null>(null);
  const [tip, setTip] = useState<TipPlace | null>(null);
  const draw = useMemo(
    () =>
      (ctx: CanvasRenderingContext2D, size: { width: number; height: number }, inks: Parameters<typeof drawCurve>[3]) =>
        drawCurve(ctx, { curve, colours, hover, peak }, size, inks),
    [curve, hover, colours.join()],
  );
  const unit = curve.unit ?? "bytes";
  return (
    <section class="card curve" aria-label={visibleText(curve.title)}>
      <header class="card-head">
        <h2>{visibleText(curve.title)}</h2>
        {peak ? (
          <span
            class="soft small curve-peak"
            title={`${exactUnit(peak.value, unit)}${curve.stacked ? "" : `, ${visibleText(names[peak.line] ?? "")}`}`}
          >
            peak <b>{formatUnit(peak.value, unit)}</b> at {formatNs(curve.at_ns[peak.at] ?? 0)}
          </span>
        ) : null}
      </header>
      <ul class="wraps small legend">
        {names.map((name, at) => (
          <li key={name}>
            <span class="ink" style={{ background: colours[at] }} />
            <span class="isolate">{visibleText(name)}</span>
          </li>
        ))}
      </ul>
      <div class="curve-plot" onPointerMove={(event) => setTip(tipAt(event))}>
        <Canvas
          label={curve.title}
          draw={draw}
          onPoint={(px, _, size) => setHover(curveSpot(curve, size, px))}
          onLeave={() => setHover(null)}
        />
      </div>
      {hover !== null && tip ? (
        <Tip place={tip}>
          <header>
            <strong>{formatNs(curve.at_ns[hover] ?? 0)}</strong> <span>after the beginning</span>
          </header>
          <table>
            <tbody>
              {names.map((name, at) => (
                <tr key={name}>
                  <td>
                    <span class="ink" style={{ background: colours[at] }} />
                  </td>
                  <td>{visibleText(name)}</td>
                  <td class="number">{formatUnit(curve.lines[name]?.[hover] ?? null, unit)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Tip>
      ) : null}
      <Notes notes={curve.notes ?? []} />
    </section>
  );
}
