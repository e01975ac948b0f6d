/** A parameter's effect as a tiny line. */

import { useCallback } from "preact/hooks";
import { drawSmallEffect } from "../../charts/draw-param-effect";
import type { Inks } from "../../charts/inks";
import { visibleText } from "../../lib/format";
import type { ParameterImportance } from "../../lib/schema";
import { Canvas, type Size } from "../charts/canvas";
import type { ParamScope } from "./scope";

export function EffectSpark({ scope, parameter }: { scope: ParamScope; parameter: ParameterImportance }) {
  const column = scope.table.value.byKey.get(parameter.key);
  const metric = scope.table.value.metric;
  const effect = parameter.effect;
  const log = column ? scope.isLog(column) : false;
  const draw = useCallback(
    (ctx: CanvasRenderingContext2D, size: Size, inks: Inks) => {
      if (!effect || !column) return;
      // At least a fifth of the metric's spread: noise is not to look like an effect.
      const low = Math.min(...effect.y);
      const high = Math.max(...effect.y);
      const least = metric ? (metric.high - metric.low) * 0.2 : 0;
      const slack = Math.max(0, least - (high - low)) / 2;
      drawSmallEffect(
        ctx,
        effect,
        scope.scale(column),
        column.kind !== "number",
        [low - slack, high + slack],
        size,
        inks,
      );
    },
    [effect, column, metric, log],
  );
  if (!effect || !column) return <span class="quiet">–</span>;
  return <Canvas label={`Effect of ${visibleText(parameter.label)}`} draw={draw} />;
}
