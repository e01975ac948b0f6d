/** PR, ROC and calibration curves of all runs in one picture, with their areas; a point under the pointer is read. */

import { useCallback, useMemo, useState } from "preact/hooks";
import { Select } from "../../components";
import { drawXY, nearestPoint, type XYLine } from "../../charts/draw-xy";
import type { Inks } from "../../charts/inks";
import { type Curve, readCurves } from "../../lib/chart-payload";
import { lookOf } from "../../lib/colour";
import { areaOf, curveWords } from "../../lib/curve-area";
import { formatNumber, visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { lookOfRun } from "../../state";
import { isDark } from "../../theme";
import { Canvas, type Size } from "../charts/canvas";
import { RunName } from "./run-heads";

interface Drawn {
  item: MediaItem;
  curve: Curve;
  area: number | null;
}

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
const ALL = "\n";
const NEAR_PX = 24;
const UNIT: [number, number] = [0, 1.02];

export function Curves({ items, step }: { items: readonly MediaItem[]; step: number | null }) {
  const kind = items[0]?.meta.curve;
  const words = curveWords(kind);
  const all = useMemo<Drawn[]>(
    () =>
      items.flatMap((item) =>
        readCurves(item.text, item.meta).map((curve) => ({
          item,
          curve,
          area: curve.area ?? areaOf(kind, curve.x, curve.y),
        })),
      ),
    [items],
  );
  const classes = [...new Set(all.map(({ curve }) => curve.label))];
  const runs = new Set(all.map(({ item }) => item.run)).size;
  const [chosen, setChosen] = useState<string>(ALL);
  const picked = classes.includes(chosen) ? chosen : runs > 1 && classes.length > 3 ? (classes[0] as string) : ALL;
  const shown = all.filter(({ curve }) => picked === ALL || curve.label === picked);
  const [at, setAt] = useState<{ line: number; index: number } | null>(null);
  const lines = useMemo<XYLine[]>(
    () =>
      shown.map(({ item, curve }) => {
        const number = classes.indexOf(curve.label);
        const own = runs > 1 || classes.length === 1;
        return {
          kind: "line",
          name: curve.label,
          x: curve.x,
          y: curve.y,
          labels: null,
          colour: own ? lookOfRun(item.run).colour : lookOf(number, isDark.value).colour,
          dash: own && picked === ALL ? (DASHES[number % DASHES.length] as readonly number[]) : [],
        };
      }),
    [all, picked, isDark.value, lookOfRun],
  );
  const spot = at ? { line: lines[at.line], index: at.index } : null;
  const options = { x: [0, 1] as [number, number], y: UNIT, diagonal: words.diagonal, xName: words.x };
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => {
      const dot: XYLine[] = spot?.line
        ? [
            {
              ...spot.line,
              kind: "points",
              radius: 4,
              x: [spot.line.x[spot.index] as number],
              y: [spot.line.y[spot.index] as number],
            },
          ]
        : [];
      drawXY(ctx, [...lines, ...dot], size, inks, options);
    },
    [lines, at],
  );
  if (all.length === 0)
    return (
      <p class="small quiet media-none">
        {items.find((item) => item.error)?.error ?? "These curves could not be read."}
      </p>
    );
  return (
    <div class="vstack gap-2 media-together">
      {classes.length > 1 ? (
        <div class="hstack wraps gap-2 small together-bar">
          <Select
            label="Class"
            value={picked}
            options={[
              { value: ALL, label: `All ${classes.length} classes` },
              ...classes.map((label) => ({ value: label, label: visibleText(label) || "(no name)" })),
            ]}
            onChange={setChosen}
          />
        </div>
      ) : null}
      <div class="wraps gap-4 curve-pair">
        <div class="curve-place">
          <Canvas
            label={`${words.y || "Curves"} over ${words.x || "x"}, ${shown.length} curves`}
            draw={draw}
            onPoint={(px, py, size) => setAt(nearestPoint(lines, size, px, py, NEAR_PX, options))}
            onLeave={() => setAt(null)}
          />
        </div>
        <Legend
          shown={shown}
          colours={lines.map((line) => line.colour)}
          words={words}
          named={classes.length > 1}
          inked={picked === ALL}
          step={step}
          at={at}
        />
      </div>
    </div>
  );
}

interface LegendProps {
  shown: readonly Drawn[];
  colours: readonly string[];
  words: ReturnType<typeof curveWords>;
  named: boolean;
  /** Lines have a color for their class, not for their run. */
  inked: boolean;
  step: number | null;
  at: { line: number; index: number } | null;
}

const MOST = 60;

/** Best first; the point that is read stands at its curve. */
function Legend({ shown, colours, words, named, inked, step, at }: LegendProps) {
  const order = shown.map((_, i) => i).sort((a, b) => (shown[b]?.area ?? -1) - (shown[a]?.area ?? -1));
  const read = at ? shown[at.line]?.curve : undefined;
  return (
    <div class="scroll small curve-legend" tabIndex={0} role="group" aria-label="Curves">
      <table class="table">
        <thead>
          <tr>
            <th>Run</th>
            {named ? <th>Class</th> : null}
            {words.area ? <th data-number>{words.area}</th> : null}
          </tr>
        </thead>
        <tbody>
          {order.slice(0, MOST).map((i) => {
            const { item, curve, area } = shown[i] as Drawn;
            return (
              <tr key={i} data-at={at?.line === i || undefined}>
                <td>
                  {inked ? <span class="ink" style={{ background: colours[i] }} /> : null} <RunName run={item.run} />
                  {item.step !== step && step !== null ? (
                    <span class="quiet"> step {item.step.toLocaleString("en-US")}</span>
                  ) : null}
                </td>
                {named ? <td class="isolate ellipsis">{visibleText(curve.label)}</td> : null}
                {words.area ? <td data-number>{area === null ? "–" : area.toFixed(4)}</td> : null}
              </tr>
            );
          })}
        </tbody>
      </table>
      {order.length > MOST ? <p class="quiet">{order.length - MOST} more</p> : null}
      <p class="px-2 py-2 soft">
        {read && at ? (
          <>
            {words.x} {formatNumber(read.x[at.index] as number, 3)}, {words.y}{" "}
            {formatNumber(read.y[at.index] as number, 3)}
            {typeof read.thresholds?.[at.index] === "number"
              ? `, threshold ${formatNumber(read.thresholds[at.index] as number, 3)}`
              : ""}
          </>
        ) : (
          "\u00a0"
        )}
      </p>
    </div>
  );
}
