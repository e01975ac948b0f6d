/** The pixel under the pointer, in all pictures at once, and how their levels are spread. */

import type { Signal } from "@preact/signals";
import { useCallback, useMemo } from "preact/hooks";
import type { Inks } from "../../charts/inks";
import { formatNumber } from "../../lib/format";
import { countLevels, levelsOf, type Pixels, loggedValue } from "../../lib/image-adjust";
import { pixelAt } from "../../lib/look-camera";
import { Canvas, type Size } from "../charts/canvas";
import { lookOfRun } from "../../state";
import type { Shown } from "./lightbox-pictures";
import { RunName } from "./run-heads";
import * as settings from "./settings";

export function Readout({
  shown,
  spot,
  dated,
}: {
  shown: readonly Shown[];
  spot: Signal<{ u: number; v: number } | null>;
  dated: boolean;
}) {
  return (
    <div class="hstack wraps scroll small over look-readout">
      {shown.map((one, at) => (
        <Line key={`${one.item.run} ${at}`} one={one} part={spot.value} dated={dated} />
      ))}
      <Levels shown={shown} />
    </div>
  );
}

function Line({ one, part, dated }: { one: Shown; part: { u: number; v: number } | null; dated: boolean }) {
  const { raw, item } = one;
  const pixel = raw && part ? pixelAt(part, raw) : null;
  const at = raw && pixel ? (pixel.y * raw.width + pixel.x) * 4 : -1;
  const rgba = raw && at >= 0 ? [...raw.data.slice(at, at + 4)] : null;
  return (
    <p class="inline gap-2 shrinks look-line">
      <RunName run={item.run} />
      {dated ? <span class="quiet">step {item.step.toLocaleString("en-US")}</span> : null}
      {raw && rgba && pixel ? (
        <>
          <span class="look-at">
            x {Math.round(pixel.x * raw.shrunk)} y {Math.round(pixel.y * raw.shrunk)}
          </span>
          <i class="look-swatch" style={{ background: `rgb(${rgba[0]} ${rgba[1]} ${rgba[2]})` }} />
          <span class="look-value">{sayPixel(rgba, item.meta)}</span>
        </>
      ) : raw ? (
        <span class="quiet">
          {Math.round(raw.width * raw.shrunk)} × {Math.round(raw.height * raw.shrunk)}
        </span>
      ) : null}
    </p>
  );
}

/** Grey as one number, colours as three; where the logged range is known, the values themselves. */
function sayPixel(rgba: readonly number[], meta: Record<string, unknown>): string {
  const [r = 0, g = 0, b = 0, a = 255] = rgba;
  const grey = r === g && g === b;
  const levels = grey ? [r] : [r, g, b];
  const values = levels.map((level) => loggedValue(level, meta.scaled));
  const plain = `${grey ? "" : "RGB "}${levels.join(" ")}${a < 255 ? ` α ${a}` : ""}`;
  return values.every((value) => value !== null)
    ? `${values.map((value) => formatNumber(value, 4)).join(" ")} (level ${levels.join(" ")})`
    : plain;
}

const MOST_LINES = 4;

/** How many pixels have each level: shows at a glance why a picture is dull. */
function Levels({ shown }: { shown: readonly Shown[] }) {
  const channel = settings.adjust.value.channel;
  const counted = useMemo(
    () =>
      shown
        .slice(0, MOST_LINES)
        .flatMap(({ raw, item }) =>
          raw ? [{ run: item.run, counts: countLevels(levelsOf(raw as Pixels, channel)) }] : [],
        ),
    [shown.map(({ raw }) => raw), channel].flat(),
  );
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => {
      ctx.strokeStyle = inks.line;
      ctx.strokeRect(0.5, 0.5, size.width - 1, size.height - 1);
      for (const { run, counts } of counted) {
        // The tallest bar alone would flatten the rest: roots bring the small counts up.
        const most = Math.sqrt(Math.max(1, ...counts));
        ctx.beginPath();
        counts.forEach((n, level) => {
          const x = 1 + (level / 255) * (size.width - 2);
          const y = size.height - 1 - (Math.sqrt(n) / most) * (size.height - 3);
          if (level === 0) ctx.moveTo(x, y);
          else ctx.lineTo(x, y);
        });
        ctx.strokeStyle = lookOfRun(run).colour;
        ctx.lineWidth = 1;
        ctx.stroke();
      }
    },
    [counted],
  );
  if (counted.length === 0) return null;
  return (
    <div class="look-levels" title="How many pixels have each level, from black to white (square root)">
      <Canvas label="Histogram of the levels" draw={draw} />
    </div>
  );
}
