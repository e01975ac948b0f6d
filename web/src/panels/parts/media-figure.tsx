/** What the runs logged under a key, side by side, with a slider over the steps that they have in common. */

import { useRef, useState } from "preact/hooks";
import { Slider } from "../../components";
import { call } from "../../lib/api";
import type { ReportRun } from "../../lib/schema";
import { useSize } from "../../views/charts/visible";
import { MediaStrip } from "../../views/media/strip";
import { Asked } from "./asked";

const GAP_PX = 8;
const SMALLEST_PX = 110;

export interface MediaFigureProps {
  runs: readonly ReportRun[];
  name: string;
  /** The step shown at first; the newest when null. */
  step: number | null;
  size: number;
}

export function MediaFigure({ runs, name, step, size }: MediaFigureProps) {
  const ids = runs.map((run) => run.id);
  return (
    <Asked
      question={JSON.stringify([ids, name])}
      runs={ids}
      height={220}
      ask={(stop) => call("POST /api/media", { runs: ids, key: name, step: null }, { signal: stop })}
    >
      {(found) => (
        <Stepped
          runs={found.steps.map((one) => one.run)}
          steps={[...new Set(found.steps.flatMap((one) => one.steps))].sort((a, b) => a - b)}
          name={name}
          first={step}
          size={size}
        />
      )}
    </Asked>
  );
}

function Stepped({
  runs,
  steps,
  name,
  first,
  size,
}: {
  runs: readonly string[];
  steps: readonly number[];
  name: string;
  first: number | null;
  size: number;
}) {
  const last = steps.length - 1;
  const begin =
    first === null
      ? last
      : Math.max(
          0,
          steps.findLastIndex((one) => one <= first),
        );
  const [moved, setMoved] = useState<number | null>(null);
  const at = Math.min(moved ?? begin, Math.max(0, last));
  const step = steps[at] ?? null;
  const place = useRef<HTMLDivElement>(null);
  const room = useSize(place)?.width ?? 0;
  // All runs in one row where that leaves enough of each to see.
  const share = room > 0 && runs.length > 1 ? Math.floor((room - GAP_PX * (runs.length - 1)) / runs.length) : size;
  return (
    <div ref={place} class="report-media">
      {room > 0 ? (
        <MediaStrip runs={runs} name={name} step={step} size={Math.max(SMALLEST_PX, Math.min(size, share))} />
      ) : null}
      {steps.length > 1 ? (
        <label class="hstack gap-3 centered soft small report-steps">
          <Slider label="Step" min={0} max={last} step={1} value={at} onInput={setMoved} />
          <output>step {step?.toLocaleString("en-US")}</output>
        </label>
      ) : null}
    </div>
  );
}
