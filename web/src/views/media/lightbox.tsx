/** Pictures looked at closely: all runs side by side, moving together; two of them wiped or subtracted; pixels read. */

import { Segments } from "../../components/segments";
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { IconButton, Select, Slider } from "../../components";
import { CloseIcon, DownloadIcon, ResetIcon } from "../../components/icons";
import { paint } from "../../charts/pixels";
import { formatNumber, visibleText } from "../../lib/format";
import { difference } from "../../lib/image-adjust";
import { type Camera, FIT } from "../../lib/look-camera";
import { stopOf } from "../../lib/media-steps";
import type { MediaItem } from "../../lib/schema";
import { AdjustFields } from "./bar";
import { useItems } from "./data";
import { Pane } from "./lightbox-pane";
import { type Shown, useShown } from "./lightbox-pictures";
import { Readout } from "./lightbox-readout";
import { against, type Looking, looking, type LookMode, mode } from "./lightbox-state";
import { useLookPlace, useStep } from "./look-place";
import { pictureName } from "./pictures";
import { RunName } from "./run-heads";
import { runName } from "../../twins";
import * as settings from "./settings";
import { StepBar, useSteps } from "./step-bar";

export function Lightbox({ runs, steps }: { runs: readonly string[]; steps: readonly number[] }) {
  const at = looking.value;
  const { owner } = useLookPlace();
  useEffect(() => () => void (looking.peek()?.owner === owner && (looking.value = null)), [owner]);
  return at?.owner === owner ? <Open key={at.key} at={at} runs={runs} steps={steps} /> : null;
}

const MODES: readonly { value: LookMode; label: string }[] = [
  { value: "side", label: "Side by side" },
  { value: "wipe", label: "Wipe" },
  { value: "difference", label: "Difference" },
];
const MOST_PANES = 12;

function Open({ at, runs, steps }: { at: Looking; runs: readonly string[]; steps: readonly number[] }) {
  const box = useRef<HTMLDialogElement>(null);
  const camera = useSignal<Camera>(FIT);
  const spot = useSignal<{ u: number; v: number } | null>(null);
  const close = () => (looking.value = null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  const pair = usePair(at, runs, steps);
  const { move } = useSteps(steps);
  const keys = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey) return;
    const slider = event.target instanceof HTMLInputElement;
    const does: Record<string, () => void> = { "0": () => (camera.value = FIT) };
    if (!slider) Object.assign(does, { ArrowLeft: () => move(-1), ArrowRight: () => move(1) });
    const act = does[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const title = visibleText(at.key);
  const zoom = camera.value.zoom;
  return (
    <dialog
      ref={box}
      class="lightbox"
      aria-label={`${title}, large`}
      onCancel={(event) => (event.preventDefault(), close())}
      onKeyDown={keys}
    >
      <header class="bar look-bar">
        <h2 class="isolate ellipsis">{title}</h2>
        {pair.most > 1 ? <Pager index={at.index} most={pair.most} /> : null}
        <Segments
          label="How to compare"
          value={mode.value}
          options={MODES.map((one) => ({ ...one, disabled: one.value !== "side" && !pair.canPair }))}
          onChange={(value) => (mode.value = value)}
        />
        {pair.fields}
        <span class="spring" />
        <AdjustFields />
        <span class="soft small look-zoom">{zoom === 1 ? "fit" : `${formatNumber(zoom, 3)}×`}</span>
        <IconButton label="Fit into the panes (0)" disabled={zoom === 1} onClick={() => (camera.value = FIT)}>
          <ResetIcon size={14} />
        </IconButton>
        {pair.items[0]?.url ? (
          <a
            class="icon-button"
            href={pair.items[0].url}
            download
            aria-label="Download the first image"
            title="Download the first image"
          >
            <DownloadIcon size={14} />
          </a>
        ) : null}
        <IconButton label="Close (Esc)" onClick={close}>
          <CloseIcon />
        </IconButton>
      </header>
      <Body
        items={pair.items}
        mode={pair.canPair ? mode.value : "side"}
        camera={camera}
        spot={spot}
        dated={pair.dated}
      />
      <footer class="look-foot">
        <StepBar steps={steps} quiet />
      </footer>
    </dialog>
  );
}

function Pager({ index, most }: { index: number; most: number }) {
  const to = (next: number) => looking.value && (looking.value = { ...looking.value, index: next });
  return (
    <span class="inline push one-line pager">
      <button type="button" aria-label="Previous in the list" disabled={index <= 0} onClick={() => to(index - 1)}>
        ‹
      </button>
      {Math.min(index, most - 1) + 1} / {most}
      <button type="button" aria-label="Next in the list" disabled={index >= most - 1} onClick={() => to(index + 1)}>
        ›
      </button>
    </span>
  );
}

/** Which pictures are shown: those of the runs at the step, or one run's at two steps. */
function usePair(at: Looking, runs: readonly string[], steps: readonly number[]) {
  const other = useSignal<number | null>(steps[0] ?? null);
  const partner = useSignal<string>("");
  const now = useItems(runs, at.key, useStep().value, true);
  const then = useItems(runs, at.key, other.value, against.value === "steps");
  const own = (data: { items: readonly MediaItem[] } | null) =>
    (data?.items ?? []).filter((item) => item.kind === at.kind && item.index === Math.min(at.index, item.count - 1));
  const here = ordered(own(now.data), at.run);
  const before = own(then.data);
  const bySteps = against.value === "steps" && steps.length > 1;
  const run = here[0]?.run ?? at.run;
  const second = here.find((item) => item.run === partner.value) ?? here[1];
  const pairing = mode.value !== "side";
  const items = bySteps
    ? [before.find((item) => item.run === run), here[0]].filter((item) => item !== undefined)
    : pairing
      ? [here[0], second].filter((item) => item !== undefined)
      : here.slice(0, MOST_PANES);
  const canPair = bySteps ? true : here.length > 1 || steps.length > 1;
  if (pairing && !bySteps && here.length < 2 && steps.length > 1) queueMicrotask(() => (against.value = "steps"));
  const fields = (
    <>
      {steps.length > 1 && here.length > 0 ? (
        <Select
          label="Compare"
          value={against.value}
          options={[
            { value: "runs", label: here.length > 1 ? "Runs" : "This step" },
            { value: "steps", label: "Two steps" },
          ]}
          onChange={(value) => (against.value = value)}
        />
      ) : null}
      {bySteps ? (
        <Select
          label="The other step"
          value={String(other.value ?? "")}
          options={thinned(steps).map((step) => ({
            value: String(step),
            label: `step ${step.toLocaleString("en-US")}`,
          }))}
          onChange={(value) => (other.value = Number(value))}
        />
      ) : null}
      {bySteps && here.length > 1 ? (
        <Select
          label="Run"
          value={run}
          options={here.map((item) => ({ value: item.run, label: runName(item.run) }))}
          onChange={(value) => looking.value && (looking.value = { ...looking.value, run: value })}
        />
      ) : null}
      {!bySteps && pairing && here.length > 2 ? (
        <Select
          label="The other run"
          value={second?.run ?? ""}
          options={here.slice(1).map((item) => ({ value: item.run, label: runName(item.run) }))}
          onChange={(value) => (partner.value = value)}
        />
      ) : null}
    </>
  );
  return { items, canPair, fields, dated: bySteps, most: Math.max(1, ...here.map((item) => item.count)) };
}

const MOST_OPTIONS = 200;
const thinned = (steps: readonly number[]): number[] =>
  steps.filter((_, at) => at % Math.ceil(steps.length / MOST_OPTIONS) === 0 || at === stopOf(steps, null));

/** The run that was clicked comes first. */
const ordered = (items: readonly MediaItem[], first: string): MediaItem[] => [
  ...items.filter((item) => item.run === first),
  ...items.filter((item) => item.run !== first),
];

interface BodyProps {
  items: readonly MediaItem[];
  mode: LookMode;
  camera: { value: Camera; peek(): Camera };
  spot: { value: { u: number; v: number } | null };
  dated: boolean;
}

function Body({ items, mode, camera, spot, dated }: BodyProps) {
  const shown = useShown(items, settings.adjust.value);
  const line = useSignal(0.5);
  const shared = { camera: camera as never, spot: spot as never };
  const [first, second] = shown;
  if (!first) return <p class="look-none">Nothing was logged here at or before this step.</p>;
  return (
    <>
      <div class="gap-2 fill-down look-panes" data-count={mode === "side" ? Math.min(shown.length, MOST_PANES) : 1}>
        {mode === "wipe" && second ? (
          <figure class="vstack look-figure">
            <figcaption class="gap-4 apart">
              <PaneHead one={first} dated={dated} />
              <PaneHead one={second} dated={dated} />
            </figcaption>
            <Pane
              label={`${pictureName(first.item)} left, ${pictureName(second.item)} right`}
              first={first}
              second={second}
              line={line}
              {...shared}
            />
          </figure>
        ) : mode === "difference" && second ? (
          <DifferencePane first={first} second={second} dated={dated} {...shared} />
        ) : (
          shown.map((one, at) => (
            <figure key={`${one.item.run} ${at}`} class="vstack look-figure">
              <figcaption>
                <PaneHead one={one} dated />
              </figcaption>
              <Pane label={pictureName(one.item)} first={one} {...shared} />
            </figure>
          ))
        )}
      </div>
      <Readout shown={shown} spot={spot as never} dated={dated} />
    </>
  );
}

function PaneHead({ one, dated }: { one: Shown; dated: boolean }) {
  return (
    <span class="inline gap-2 shrinks">
      <RunName run={one.item.run} />
      {dated ? <span class="quiet">step {one.item.step.toLocaleString("en-US")}</span> : null}
    </span>
  );
}

function DifferencePane({
  first,
  second,
  dated,
  camera,
  spot,
}: {
  first: Shown;
  second: Shown;
  dated: boolean;
  camera: never;
  spot: never;
}) {
  // Until a person says otherwise, the greatest difference is in full colour.
  const chosen = useSignal<number | null>(null);
  const plain = useMemo(
    () => (first.raw && second.raw ? difference(first.raw, second.raw) : null),
    [first.raw, second.raw],
  );
  const gain =
    chosen.value ?? (plain && plain.most > 0 ? 2 ** Math.min(5, Math.floor(2 * Math.log2(255 / plain.most)) / 2) : 1);
  const found = useMemo(
    () => (first.raw && second.raw ? difference(first.raw, second.raw, gain) : null),
    [first.raw, second.raw, gain],
  );
  const canvas = useMemo(() => {
    if (!found) return null;
    const made = document.createElement("canvas");
    paint(made, found.pixels);
    return made;
  }, [found]);
  const fault =
    first.fault ??
    second.fault ??
    (first.raw && second.raw && !found
      ? `The images differ in size: ${first.raw.width} × ${first.raw.height} and ${second.raw.width} × ${second.raw.height}.`
      : null);
  const total = first.raw ? first.raw.width * first.raw.height : 1;
  return (
    <figure class="vstack look-figure">
      <figcaption class="gap-4 apart">
        <span class="inline gap-2 shrinks">
          <PaneHead one={second} dated={dated} /> <span class="quiet">minus</span>{" "}
          <PaneHead one={first} dated={dated} />
        </span>
        {found ? (
          <span class="soft look-stats">
            mean {formatNumber(found.mean, 3)} · greatest {found.most} of 255 ·{" "}
            {formatNumber((100 * found.changed) / total, 3)}% of pixels differ
          </span>
        ) : null}
        <label class="inline gap-2 soft small adjust-field">
          <span>Stronger</span>
          <Slider
            label="Amplify the difference"
            min={0}
            max={5}
            step={0.5}
            value={Math.log2(gain)}
            onInput={(value) => (chosen.value = 2 ** value)}
          />
          <output>{formatNumber(gain, 2)}×</output>
        </label>
      </figcaption>
      <Pane
        label={`${pictureName(second.item)} minus ${pictureName(first.item)}`}
        first={{ canvas, fault }}
        camera={camera}
        spot={spot}
      />
    </figure>
  );
}
