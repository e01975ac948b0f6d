/** One key of some runs at one step, side by side: for comparisons and reports. Asks for nothing but `/api/media`. */

import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { Button, Skeleton } from "../../components";
import { call } from "../../lib/api";
import { TOGETHER } from "../../lib/media-kinds";
import { unionOf } from "../../lib/media-steps";
import type { MediaData } from "../../lib/schema";
import "../../style/charts-panels.css";
import "../../style/charts-media.css";
import "../../style/charts-text.css";
import "../../style/media.css";
import "../../style/media-kinds.css";
import "../../style/media-looking.css";
import { Content } from "./content";
import { errorWords } from "./data";
import { Lightbox } from "./lightbox";
import { LookContext } from "./look-place";
import { RunHeads } from "./run-heads";

export interface StripProps {
  runs: readonly string[];
  name: string;
  /** Each run shows its newest at or before this; null for the newest of all. */
  step: number | null;
  /** Width of a picture in pixels of the screen. */
  size?: number;
}

export function MediaStrip({ runs, name, step, size = 180 }: StripProps) {
  const [data, setData] = useState<MediaData | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [again, setAgain] = useState(0);
  const asked = runs.join();
  const owner = useId();
  const at = useSignal<number | null>(step);
  useEffect(() => void (at.value = step), [step]);
  const place = useMemo(() => ({ owner, step: at }), [owner]);
  useEffect(() => {
    const stop = new AbortController();
    call("POST /api/media", { runs: asked ? asked.split(",") : [], key: name, step }, { signal: stop.signal }).then(
      (answer) => (setData(answer), setError(null)),
      (fault) => stop.signal.aborted || setError(errorWords(fault)),
    );
    return () => stop.abort();
  }, [asked, name, step, again]);
  if (error && !data) {
    return (
      <div class="gap-2 quiet media-fault" role="alert">
        <p>{error}</p>
        <Button onClick={() => setAgain(again + 1)}>Try again</Button>
      </div>
    );
  }
  if (!data) return <Skeleton width="40%" />;
  // One key may hold different kinds in different runs; an embedding's sheet of pictures is not the thing itself.
  const kinds = [...new Set(data.items.filter((item) => item.index === 0).map((item) => item.kind))];
  const columns = runs.length > 1;
  const steps = unionOf(data.steps.map((one) => one.steps));
  return (
    <LookContext.Provider value={place}>
      <div class="media-strip" style={{ "--size": `${size}px`, "--runs": runs.length }}>
        {kinds.length === 0 ? (
          <p class="small quiet media-none">These runs logged nothing under this key at or before this step.</p>
        ) : null}
        {kinds.map((kind) => (
          <div key={kind} class="media-key" data-kind={kind}>
            {columns && !TOGETHER.has(kind) ? <RunHeads runs={runs} /> : null}
            <Content
              entry={{ key: name, kind }}
              items={data.items.filter((item) => item.kind === kind)}
              all={data.items}
              runs={runs}
              columns={columns}
              step={step}
            />
          </div>
        ))}
        <Lightbox runs={runs} steps={steps} />
      </div>
    </LookContext.Provider>
  );
}
