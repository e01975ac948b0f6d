/** Which lines a panel needs at a width, by the settings of its board. */

import { bucketsFor, type View } from "../../lib/chart-plan";
import { panelX } from "../../lib/chart-settings";
import type { PanelInfo } from "../../lib/schema";
import type { ChartScope } from "./scope";

export function viewOf({ settings, drawn }: ChartScope, info: PanelInfo, width: number): View {
  const x = panelX(settings.xAxis.value, info.x);
  return {
    x,
    window: settings.zooms.value[x] ?? null,
    buckets: bucketsFor(width, drawn.value.length),
    smoothing: settings.smoothing.value,
    superseded: settings.superseded.value,
    ranks: settings.ranks.value,
    spread: settings.by.value.length ? settings.spread.value : "",
  };
}
