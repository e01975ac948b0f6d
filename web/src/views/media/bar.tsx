/** Search, kinds, size, layout and adjustment: what holds for the whole board. */

import type { ComponentChildren } from "preact";
import { Segments } from "../../components/segments";
import { useRef, useState } from "preact/hooks";
import { IconButton, Popover, Select, Slider, TextInput } from "../../components";
import { ResetIcon, SearchIcon } from "../../components/icons";
import type { MapName } from "../../lib/colour-maps";
import { type Channel, GAMMAS, isNeutral, NEUTRAL, type Stretch } from "../../lib/image-adjust";
import { kindCounts, kindWords } from "../../lib/media-kinds";
import type { MediaKey } from "../../lib/schema";
import { useKeys } from "../../keys";
import { useChosenInSight } from "../../components/in-sight";
import { ContrastIcon, FlowIcon, GridIcon } from "./icons";
import { keepArrows } from "./look-place";
import * as settings from "./settings";

export function Bar({
  keys,
  shown,
  columns,
  several,
}: {
  keys: readonly MediaKey[];
  shown: number;
  columns: boolean;
  several: boolean;
}) {
  const box = useRef<HTMLInputElement>(null);
  const scale = (factor: number) => settings.setSize(settings.drawnSize.peek() * factor);
  useKeys({ "/": () => box.current?.focus(), "+": () => scale(1.25), "=": () => scale(1.25), "-": () => scale(0.8) });
  const pictures = keys.some(
    (key) =>
      ["image", "video", "figure"].includes(key.kind) &&
      (settings.kind.value === "" || settings.kind.value === key.kind),
  );
  return (
    <div class="bar charts-bar media-bar" role="toolbar" aria-label="Media" onKeyDown={keepArrows}>
      <div class="find">
        <TextInput
          inputRef={box}
          label="Find media"
          placeholder="Find media"
          icon={<SearchIcon size={14} />}
          value={settings.find.value}
          onInput={(value) => (settings.find.value = value)}
          onKeyDown={(event) => event.key === "Escape" && ((settings.find.value = ""), box.current?.blur())}
        />
        {settings.find.value ? (
          <span class="small quiet find-count">
            {shown} of {keys.length}
          </span>
        ) : null}
      </div>
      <Kinds keys={keys} />
      <span class="spring" />
      {pictures ? (
        <>
          <AdjustButton />
          <span class="inline gap-1 field">
            <span class="small quiet field-label">Size</span>
            <Slider
              label="Image size"
              min={settings.SIZES.least}
              max={settings.SIZES.most}
              step={4}
              value={settings.drawnSize.value}
              onInput={settings.setSize}
            />
          </span>
        </>
      ) : null}
      {several ? (
        <Segments
          label="Layout"
          value={columns ? "columns" : "flow"}
          options={LAYOUTS}
          onChange={(layout) => (settings.layout.value = layout)}
        />
      ) : null}
    </div>
  );
}

const layout = (value: "columns" | "flow", about: string, icon: ComponentChildren) => ({
  value,
  about,
  label: (
    <>
      {icon}
      <span class="visually-hidden">{about}</span>
    </>
  ),
});
const LAYOUTS = [
  layout("columns", "A column for each run", <GridIcon size={14} />),
  layout("flow", "One after the other", <FlowIcon size={14} />),
];

function Kinds({ keys }: { keys: readonly MediaKey[] }) {
  const kinds = kindCounts(keys);
  const row = useRef<HTMLDivElement>(null);
  useChosenInSight(row, settings.kind.value, "radio");
  if (kinds.length < 2) return null;
  const chip = (kind: string, label: string, count: number) => (
    <button
      key={kind}
      type="button"
      role="radio"
      class="pill kind-chip"
      aria-checked={settings.kind.value === kind}
      onClick={() => (settings.kind.value = kind)}
    >
      {label} <span class="kind-count">{count}</span>
    </button>
  );
  return (
    <div ref={row} class="kind-chips" role="radiogroup" aria-label="Kind">
      {chip("", "All", keys.length)}
      {kinds.map(({ kind, count }) => chip(kind, kindWords(kind), count))}
    </div>
  );
}

const STRETCHES: readonly { value: Stretch; label: string }[] = [
  { value: "none", label: "As logged" },
  { value: "auto", label: "Auto contrast" },
  { value: "equalise", label: "Equalised histogram" },
];
export const COLOURS: readonly { value: MapName | "none"; label: string }[] = [
  { value: "none", label: "As logged" },
  { value: "gray", label: "Grey" },
  { value: "viridis", label: "Viridis" },
  { value: "magma", label: "Magma" },
];
const CHANNELS: readonly { value: Channel; label: string }[] = [
  { value: "all", label: "All channels" },
  { value: "r", label: "Red" },
  { value: "g", label: "Green" },
  { value: "b", label: "Blue" },
  { value: "a", label: "Transparency" },
];

function AdjustButton() {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  const on = !isNeutral(settings.adjust.value);
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class="icon-button"
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-pressed={on}
        title="Contrast, gamma, channels and colors"
        aria-label="Adjust pictures"
        onClick={() => setOpen(!open)}
      >
        <ContrastIcon size={15} />
        <span class="small glyph">Adjust</span>
      </button>
      {open ? (
        <Popover anchor={anchor.current} label="Adjust pictures" align="end" onClose={() => setOpen(false)}>
          <div class="gap-2 pad adjust-box" onKeyDown={keepArrows}>
            <AdjustFields />
          </div>
        </Popover>
      ) : null}
    </>
  );
}

/** The fields themselves; the lightbox has them in its own bar. */
export function AdjustFields() {
  const now = settings.adjust.value;
  const set = (change: Partial<typeof now>) => (settings.adjust.value = { ...settings.adjust.peek(), ...change });
  return (
    <>
      <label class="inline gap-2 soft small adjust-field">
        <span>Contrast</span>
        <Select label="Contrast" value={now.stretch} options={STRETCHES} onChange={(stretch) => set({ stretch })} />
      </label>
      <label class="inline gap-2 soft small adjust-field">
        <span>Channel</span>
        <Select label="Channel" value={now.channel} options={CHANNELS} onChange={(channel) => set({ channel })} />
      </label>
      <label class="inline gap-2 soft small adjust-field">
        <span>Colors</span>
        <Select label="Colors" value={now.map} options={COLOURS} onChange={(map) => set({ map })} />
      </label>
      <label class="inline gap-2 soft small adjust-field">
        <span>Gamma</span>
        <Slider
          label="Gamma"
          min={Math.log2(GAMMAS.least)}
          max={Math.log2(GAMMAS.most)}
          step={0.01}
          value={Math.log2(now.gamma)}
          onInput={(value) => set({ gamma: Math.abs(value) < 0.06 ? 1 : Number((2 ** value).toFixed(2)) })}
        />
        <output>{now.gamma.toFixed(2)}</output>
      </label>
      <IconButton
        label="Reset to the images as logged"
        disabled={isNeutral(now)}
        onClick={() => (settings.adjust.value = NEUTRAL)}
      >
        <ResetIcon size={14} />
      </IconButton>
    </>
  );
}
