/** One panel of a board over the whole page. */

import { useEffect, useRef } from "preact/hooks";
import { panelId } from "../../lib/chart-sections";
import { lazily } from "../../components/lazily";
import { panelNamed } from "../../lib/workspace";
import { space } from "../workspace/space";
import { Panel } from "./panel";
import { useScope } from "./scope";

const OwnPanelView = lazily(() => import("../workspace/own-panel").then((chunk) => chunk.OwnPanelView));

export function Enlarged() {
  const { arranged, panels, settings } = useScope();
  const place = useRef<HTMLDivElement>(null);
  const id = settings.enlarged.value;
  const info = panels.value?.find((p) => panelId(p) === id);
  const own = arranged && id.startsWith("own:") ? panelNamed(space.value, id.slice(4)) : undefined;
  const here = info !== undefined || own !== undefined;
  useEffect(() => {
    if (!here) return;
    const before = document.activeElement;
    place.current?.querySelector<HTMLElement>(".panel")?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, [here]);
  if (!info && !own) return null;
  const close = () => (settings.enlarged.value = "");
  return (
    <div
      ref={place}
      class="enlarged"
      role="dialog"
      aria-modal="true"
      aria-label={info?.key ?? "Panel"}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      {info ? <Panel key={id} info={info} large /> : own ? <OwnPanelView key={id} panel={own} large /> : null}
    </div>
  );
}
