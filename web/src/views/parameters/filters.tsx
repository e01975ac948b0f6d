/** What is brushed, in words, and what can be done with the runs that are left. */

import { Button, IconButton } from "../../components";
import { CloseIcon } from "../../components/icons";
import { count, visibleText } from "../../lib/format";
import { brushWords, NO_BRUSH } from "../../lib/param-brush";
import { go } from "../../router";
import { setSelected } from "../../state";
import type { ParamScope } from "./scope";

/** More than this are too many to compare, and too long for an address. */
const MOST = 50;

export function Filters({ scope, hint }: { scope: ParamScope; hint: string }) {
  const table = scope.table.value;
  const brushed = Object.entries(scope.brushes.value).filter(([key]) => table.byKey.has(key));
  if (brushed.length === 0) return <p class="hstack wraps gap-2 rigid small quiet params-filters">{hint}</p>;
  const kept = scope.kept.value;
  return (
    <div class="hstack wraps gap-2 rigid small params-filters" role="group" aria-label="Brushed ranges">
      {brushed.map(([key, brush]) => (
        <span key={key} class="inline gap-2 filter-chip">
          <b class="isolate ellipsis">{visibleText(table.byKey.get(key)?.label ?? key)}</b>
          <span class="isolate ellipsis">{visibleText(brushWords(brush))}</span>
          <IconButton
            label={`Clear ${visibleText(table.byKey.get(key)?.label ?? key)}`}
            onClick={() => scope.brush(key, NO_BRUSH)}
          >
            <CloseIcon size={10} />
          </IconButton>
        </span>
      ))}
      <span role="status">
        <b>{kept.toLocaleString("en-US")}</b> of {count(table.size, "run")}
      </span>
      <span class="spring" />
      <Button kind="quiet" onClick={() => (scope.settings.brushes.value = {})}>
        Clear all
      </Button>
      <CompareButton scope={scope} kept={kept} />
    </div>
  );
}

function CompareButton({ scope, kept }: { scope: ParamScope; kept: number }) {
  const words = kept > MOST ? `Compare the best ${MOST}` : kept === 1 ? "Open this run" : `Compare these ${kept}`;
  const onClick = () => {
    const ids = scope.keptIds(MOST);
    if (ids.length === 1) return go(`/run/${ids[0]}`);
    setSelected(ids);
    go("/compare");
  };
  return (
    <Button kind="primary" disabled={kept === 0} onClick={onClick}>
      {words}
    </Button>
  );
}
