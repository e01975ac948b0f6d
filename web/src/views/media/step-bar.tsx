/** One slider over all steps that any run has, for every picture on the board. Plays, and answers to the arrow keys. */

import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../../components";
import { count } from "../../lib/format";
import { stepAt, stopOf } from "../../lib/media-steps";
import { useKeys } from "../../keys";
import { FirstIcon, LastIcon, PauseIcon, PlayIcon } from "./icons";
import { useStep } from "./look-place";

const FRAME_MS = 450;
const MOST_MARKS = 200;

/** Which way the slider went last: what is fetched ahead lies there. */
export let forward = true;

export function useSteps(steps: readonly number[]) {
  const step = useStep();
  const stop = stopOf(steps, step.value);
  const to = (next: number) => {
    const held = Math.max(0, Math.min(steps.length - 1, next));
    forward = held >= stopOf(steps, step.peek());
    step.value = stepAt(steps, held);
  };
  // From where the slider is now, not from where it was drawn: two quick presses are two steps.
  const move = (by: number) => to(stopOf(steps, step.peek()) + by);
  return { stop, to, move, newest: step.value === null };
}

export function StepBar({ steps, quiet = false }: { steps: readonly number[]; quiet?: boolean }) {
  const { stop, to, move, newest } = useSteps(steps);
  const [playing, setPlaying] = useState(false);
  const latest = useRef({ stop, to });
  latest.current = { stop, to };
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const now = latest.current;
      if (now.stop >= steps.length - 1) setPlaying(false);
      else now.to(now.stop + 1);
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [playing, steps.length]);
  const play = () => {
    if (!playing && stop >= steps.length - 1) to(0);
    setPlaying(!playing);
  };
  useKeys(
    quiet || steps.length < 2
      ? {}
      : {
          ArrowLeft: () => move(-1),
          ArrowRight: () => move(1),
          Home: () => to(0),
          End: () => to(steps.length - 1),
          Space: play,
        },
  );
  if (steps.length < 2) return null;
  return (
    <div class="hstack gap-1 under subtle steps-bar" role="group" aria-label="Step">
      <IconButton label={playing ? "Stop playing" : "Play through the steps (space)"} pressed={playing} onClick={play}>
        {playing ? <PauseIcon size={14} /> : <PlayIcon size={14} />}
      </IconButton>
      <IconButton label="First step (Home)" disabled={stop <= 0} onClick={() => to(0)}>
        <FirstIcon size={14} />
      </IconButton>
      <div class="anchor px-2 step-track">
        <input
          class="slider"
          type="range"
          min={0}
          max={steps.length - 1}
          value={stop}
          aria-label="Step"
          aria-valuetext={`step ${steps[stop]}${newest ? ", newest" : ""}`}
          onInput={(event) => to(Number(event.currentTarget.value))}
        />
        <Marks steps={steps.length} />
      </div>
      <IconButton label="Newest step (End)" disabled={stop >= steps.length - 1} onClick={() => to(steps.length - 1)}>
        <LastIcon size={14} />
      </IconButton>
      <output class="soft small one-line step-value" title={`${count(steps.length, "step")} have media`}>
        step <b>{(steps[stop] ?? 0).toLocaleString("en-US")}</b>
        <span class="push quiet step-of">{newest ? "newest" : `${stop + 1} of ${steps.length}`}</span>
      </output>
    </div>
  );
}

/** Where the slider stops, as ticks under it; of very many none, as they would be a bar. */
function Marks({ steps }: { steps: number }) {
  if (steps > MOST_MARKS) return null;
  return (
    <span class="step-marks" aria-hidden="true">
      {Array.from({ length: steps }, (_, at) => (
        <i key={at} style={{ left: `${(100 * at) / (steps - 1)}%` }} />
      ))}
    </span>
  );
}
