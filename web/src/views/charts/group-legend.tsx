/** Whose line is which while runs are grouped: a colour, the values that the runs share, and how many they are. */

import { count, visibleText } from "../../lib/format";
import { hovered, inkOfRun } from "../../state";
import { useScope } from "./scope";

const MOST = 24;
const BANDS = { range: "least to greatest", std: "± 1 standard deviation", sem: "± 1 standard error" } as const;

export function GroupLegend() {
  const { groups, settings, spotlit } = useScope();
  if (settings.by.value.length === 0 || !groups.value) return null;
  const shown = groups.value.slice(0, MOST);
  return (
    <div
      class="hstack wraps small under group-legend"
      role="group"
      aria-label="Groups"
      onPointerLeave={() => (spotlit.value = null)}
    >
      {shown.map((group) => (
        <span
          key={group.id}
          class="inline group-chip"
          data-strong={hovered.value === group.id || spotlit.value === group.id || undefined}
          onPointerEnter={() => (spotlit.value = group.id)}
        >
          <span class="ink" style={inkOfRun(group.id)} />
          <span class="isolate ellipsis" title={visibleText(group.label)}>
            {visibleText(group.label)}
          </span>
          <span class="quiet">{count(group.runs.length, "run")}</span>
        </span>
      ))}
      {groups.value.length > MOST ? <span class="quiet">{groups.value.length - MOST} more groups</span> : null}
      <span class="quiet">Lines are means{settings.band.value ? `; bands ${BANDS[settings.spread.value]}` : ""}.</span>
    </div>
  );
}
