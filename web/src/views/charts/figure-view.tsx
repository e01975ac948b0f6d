/** A plotly figure without plotly: its lines, points, bars and heat maps in our own drawing; the rest to download. */

import { useCallback, useMemo } from "preact/hooks";
import { drawMatrix } from "../../charts/draw-matrix";
import { drawXY } from "../../charts/draw-xy";
import { fileName, saveText } from "../../charts/download";
import type { Inks } from "../../charts/inks";
import { readFigure } from "../../lib/chart-figure";
import { lookOf } from "../../lib/colour";
import { visibleText } from "../../lib/format";
import type { MediaItem } from "../../lib/schema";
import { isDark } from "../../theme";
import { Canvas, type Size } from "./canvas";

export function FigureView({ item }: { item: MediaItem }) {
  const figure = useMemo(() => readFigure(item.text ?? ""), [item.text]);
  const dark = isDark.value;
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => {
      if (!figure) return;
      if (figure.matrix)
        drawMatrix(
          ctx,
          { ...figure.matrix, byRow: false, xTitle: figure.xTitle, yTitle: figure.yTitle },
          size,
          inks,
          lookOf(0, dark).colour,
        );
      else
        drawXY(
          ctx,
          figure.xy.map((t, i) => ({ ...t, colour: t.colour ?? lookOf(i, dark).colour })),
          size,
          inks,
          { xName: figure.xTitle },
        );
    },
    [figure, dark],
  );
  if (!figure) return <p class="none">This figure could not be read.</p>;
  const drawn = figure.matrix !== null || figure.xy.length > 0;
  const save = () => saveText(item.text ?? "", "application/json", fileName(item.key, "plotly.json"));
  return (
    <div class="page figure">
      {figure.title ? <p class="soft tiny isolate figure-title">{visibleText(figure.title)}</p> : null}
      {drawn ? <Canvas label={visibleText(figure.title || item.key)} draw={draw} /> : null}
      {figure.xy.length > 1 ? (
        <p class="wraps scroll figure-legend">
          {figure.xy.slice(0, 12).map((t, i) => (
            <span key={i} class="isolate">
              <span class="ink" style={{ background: t.colour ?? lookOf(i, dark).colour }} />{" "}
              {visibleText(t.name || `trace ${i + 1}`)}
            </span>
          ))}
        </p>
      ) : null}
      {figure.undrawn.length > 0 || !drawn ? (
        <p class="none">
          {figure.undrawn.length
            ? `Not drawn here: ${visibleText([...new Set(figure.undrawn)].join(", "))}. `
            : "It has no traces. "}
          <button type="button" class="link" onClick={save}>
            Download the figure
          </button>
        </p>
      ) : null}
    </div>
  );
}
