/** One panel that stands alone, with runs and settings of its own: in a comparison, beside a finding, in a report. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useKeys } from "../../keys";
import type { PanelInfo } from "../../lib/schema";
import { meet } from "../../state";
import { useFollowing } from "./board";
import { Enlarged } from "./enlarged";
import { held, releaseHover } from "./hover";
import "./look";
import { Panel } from "./panel";
import { ChartScope, ScopeContext } from "./scope";
import { type ChartSettings, ownSettings } from "./settings";
import { ChartTooltip } from "./tooltip";

export interface ScopedPanelProps {
  runs: readonly string[];
  /** The metric, or with `kind` any other thing that was logged. */
  name: string;
  kind?: string;
  /** How it is drawn at first, as the address of the Charts page would say it: `{ smooth: "ema:0.6", logy: "1" }`. */
  start?: Readonly<Record<string, string>>;
  /** Settings shared with other panels, instead of `start`. */
  settings?: ChartSettings;
}

export function ScopedPanel({ runs, name, kind = "scalar", start, settings }: ScopedPanelProps) {
  const shown = useSignal(runs);
  if (shown.peek().join() !== runs.join()) shown.value = runs;
  const begin = JSON.stringify(start ?? {});
  const scope = useMemo(() => {
    const own = settings ?? ownSettings(JSON.parse(begin) as Record<string, string>);
    const made = new ChartScope(shown, own, { alone: true });
    const info: PanelInfo = { key: name, kind, section: "", runs: runs.length, x: null };
    made.panels.value = [info];
    return { made, info };
  }, [settings, begin, name, kind]);
  useEffect(() => () => scope.made.close(), [scope]);
  useEffect(() => void meet(runs).catch(() => undefined), [runs.join()]);
  useFollowing(scope.made, shown, false);
  useEffect(() => releaseHover, []);
  const enlarged = scope.made.settings.enlarged;
  useKeys(enlarged.value || held.value ? { Escape: () => (held.value ? releaseHover() : (enlarged.value = "")) } : {});
  return (
    <ScopeContext.Provider value={scope.made}>
      <Panel info={scope.info} />
      <Enlarged />
      <ChartTooltip />
    </ScopeContext.Provider>
  );
}
