/** One panel of a board over the whole page. */

import { useEffect, useRef } from "preact/hooks";
import { panelId } from "../../lib/chart-sections";
import { Panel } from "./panel";
import { useScope } from "./scope";

export function Enlarged() {
  const { panels, settings } = useScope();
  const place = useRef<HTMLDivElement>(null);
  const id = settings.enlarged.value;
  const info = panels.value?.find((p) => panelId(p) === id);
  useEffect(() => {
    if (!info) return;
    const before = document.activeElement;
    place.current?.querySelector<HTMLElement>(".panel")?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, [info === undefined]);
  if (!info) return null;
  const close = () => (settings.enlarged.value = "");
  return (
    <div ref={place} class="enlarged" role="dialog" aria-modal="true" aria-label={info.key} onClick={(event) => event.target === event.currentTarget && close()}>
      <Panel key={id} info={info} large />
    </div>
  );
}
