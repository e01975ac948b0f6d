/** What is under the pointer, in a few words. */

import { visibleText } from "../../../lib/format";
import { formatNs, formatShare } from "../../../lib/profile-format";
import { KINDS } from "../../../lib/timeline-inks";
import { preciseNs } from "../../../lib/timeline-ruler";
import type { TimelineState } from "./state";

const LETTERS = 220;

export function HoverTip({ state }: { state: TimelineState }) {
  const found = state.hovered.value;
  const source = found ? state.sources.value[found.hit.row.source] : undefined;
  if (!found || !source) return null;
  const { hit, x, y } = found;
  const { width, height } = state.size.value;
  const name = visibleText(source.names[hit.name] ?? "…");
  const style = {
    ...(x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` }),
    ...(y > height - 110 ? { bottom: `${height - y + 10}px` } : { top: `${y + 16}px` }),
  };
  return (
    <div class="vstack anywhere floating tip timeline-tip" style={style} role="status">
      {hit.count > 1 ? (
        <>
          <strong>{hit.count.toLocaleString("en-US")} events</strong>
          <span>
            in {formatNs(hit.dur)}, {formatShare(hit.busy)} of it busy
          </span>
          <span class="quiet isolate">the longest: {name.slice(0, LETTERS)}</span>
        </>
      ) : (
        <>
          <strong class="isolate">{name.length > LETTERS ? `${name.slice(0, LETTERS)}…` : name}</strong>
          <span>
            {hit.dur > 0 ? preciseNs(hit.dur) : "an instant"} · {KINDS[hit.kind]}
          </span>
        </>
      )}
      <span class="quiet">at {preciseNs(source.offset + hit.start - state.zero.value)}</span>
    </div>
  );
}
