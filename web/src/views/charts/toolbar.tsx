/** Search, smoothing, axes and layout: everything that holds for all panels. */

import { useRef, useState } from "preact/hooks";
import { Button, IconButton, Menu, Popover, Select, Slider, TextInput, Toggle } from "../../components";
import {
  ChartIcon,
  CloseIcon,
  EyeIcon,
  GroupIcon,
  PlusIcon,
  ReportIcon,
  ResetIcon,
  SearchIcon,
  SettingsIcon,
} from "../../components/icons";
import { ColorSelect } from "../../components/color-bar";
import { amountAt, SMOOTHINGS, sliderOf, smoothOf, type SmoothingKind, xLabel } from "../../lib/chart-settings";
import { count, cutMiddle, formatNumber, visibleText } from "../../lib/format";
import { useKeys } from "../../keys";
import { ByPicker } from "../compare/by-picker";
import { beginReport } from "../reports/begin";
import { showAutomatic } from "../../lib/workspace";
import { newSection } from "../workspace/own-sections";
import { change, editing, space } from "../workspace/space";
import { useScope } from "./scope";

export function Toolbar() {
  const { arranged, matched, panels, runs, search, settings } = useScope();
  const box = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => box.current?.focus(), "0": () => (settings.zooms.value = {}) });
  const { error } = search.value;
  const zoomed = Object.keys(settings.zooms.value).length > 0;
  return (
    <div class="bar charts-bar" role="toolbar" aria-label="Charts">
      <div class="find">
        <TextInput
          inputRef={box}
          label="Find panels"
          placeholder={settings.regex.value ? "Find panels by pattern: ^val/.*loss" : "Find panels"}
          icon={<SearchIcon size={14} />}
          value={settings.find.value}
          bad={error !== null}
          onInput={(value) => (settings.find.value = value)}
          onKeyDown={(event) => event.key === "Escape" && ((settings.find.value = ""), box.current?.blur())}
        />
        <IconButton
          label="Regular expression"
          pressed={settings.regex.value}
          onClick={() => (settings.regex.value = !settings.regex.value)}
        >
          <span class="mono">.*</span>
        </IconButton>
        {error ? (
          <span class="bad find-error" role="alert">
            {error}
          </span>
        ) : settings.find.value ? (
          <span class="small quiet find-count">
            {matched.value} of {count(panels.value?.length ?? 0, "panel")}
          </span>
        ) : null}
      </div>
      <span class="spring" />
      {zoomed ? (
        <Button
          kind="quiet"
          title="Reset the zoom (0, or double-click a chart)"
          onClick={() => (settings.zooms.value = {})}
        >
          <ResetIcon size={14} /> Reset zoom
        </Button>
      ) : null}
      {settings.mark.value ? (
        <Button kind="quiet" title="Remove the marker" onClick={() => (settings.mark.value = "")}>
          <CloseIcon size={12} /> Step {visibleText(settings.mark.value)}
        </Button>
      ) : null}
      {runs.value.length > 1 ? (
        <ByPicker value={settings.by.value} onChange={(by) => (settings.by.value = by)} />
      ) : null}
      <SmoothingField />
      <XField />
      {arranged ? <AddMenu /> : null}
      <IconButton label="Make a report of these runs" onClick={() => beginReport(runs.peek())}>
        <ReportIcon />
      </IconButton>
      <More />
    </div>
  );
}

/** A panel or a section of one's own, and the panels that were hidden. */
function AddMenu() {
  const { gone } = space.value;
  const items = [
    {
      key: "panel",
      label: "Panel…",
      icon: <ChartIcon size={14} />,
      hint: "a",
      onPick: () => (editing.value = { section: null, panel: null }),
    },
    { key: "section", label: "Section", icon: <GroupIcon size={14} />, onPick: newSection },
    ...(gone.length
      ? [
          {
            key: "gone",
            label: `Show ${count(gone.length, "hidden panel")}`,
            icon: <EyeIcon size={14} />,
            onPick: () => change(showAutomatic),
          },
        ]
      : []),
  ];
  useKeys({ a: () => (editing.value = { section: null, panel: null }) });
  return (
    <Menu
      label="Add a panel or section"
      button={
        <>
          <PlusIcon size={14} /> Add
        </>
      }
      buttonClass="button"
      align="end"
      items={items}
    />
  );
}

function SmoothingField() {
  const { settings } = useScope();
  const now = settings.smoothing.value;
  const { hint, max } = SMOOTHINGS[now.kind];
  const options = (Object.keys(SMOOTHINGS) as SmoothingKind[]).map((value) => ({
    value,
    label: value === "none" ? "No smoothing" : SMOOTHINGS[value].label,
  }));
  return (
    <span class="inline gap-1 field" data-active={now.kind !== "none" || undefined}>
      <Select
        label="Smoothing"
        value={now.kind}
        options={options}
        onChange={(kind) => (settings.smoothing.value = smoothOf(kind, SMOOTHINGS[kind].start))}
      />
      {now.kind === "none" ? null : (
        <>
          <Slider
            label={`Smoothing, ${hint}`}
            min={0}
            max={1}
            step={0.005}
            value={sliderOf(now)}
            onInput={(value) => (settings.smoothing.value = smoothOf(now.kind, amountAt(now.kind, value)))}
          />
          <output class="soft small field-value">{max < 1 ? now.amount.toFixed(3) : formatNumber(now.amount)}</output>
        </>
      )}
    </span>
  );
}

function XField() {
  const { scalarKeys, settings } = useScope();
  const own = settings.xAxis.value;
  const metrics = scalarKeys.value.slice(0, 500).filter((key) => !["step", "relative", "wall"].includes(key));
  const known = ["step", "relative", "wall", ...metrics];
  const all = known.includes(own) ? known : [...known, own];
  return (
    <span class="inline gap-1 field">
      <span class="small quiet field-label">x</span>
      <Select
        label="X-axis"
        value={own}
        options={all.map((value) => ({ value, label: cutMiddle(visibleText(xLabel(value)), 60) }))}
        onChange={(x) => (settings.xAxis.value = x)}
      />
      <IconButton
        label="Log x"
        pressed={settings.logX.value}
        onClick={() => (settings.logX.value = !settings.logX.value)}
      >
        <span class="small glyph">log x</span>
      </IconButton>
      <IconButton
        label="Log y"
        pressed={settings.logY.value}
        onClick={() => (settings.logY.value = !settings.logY.value)}
      >
        <span class="small glyph">log y</span>
      </IconButton>
    </span>
  );
}

const SIZES = [
  { value: "s", label: "Small" },
  { value: "m", label: "Medium" },
  { value: "l", label: "Large" },
] as const;

const SPREADS = [
  { value: "range", label: "Least to greatest" },
  { value: "std", label: "± 1 standard deviation" },
  { value: "sem", label: "± 1 standard error" },
] as const;

const CLIPS = [
  { value: "extreme", label: "Unless extreme" },
  { value: "never", label: "Always" },
  { value: "always", label: "Never" },
] as const;

function More() {
  const { settings } = useScope();
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  return (
    <div ref={anchor}>
      <IconButton label="Chart settings" aria-expanded={open} onClick={() => setOpen(!open)}>
        <SettingsIcon />
      </IconButton>
      {open ? (
        <Popover
          anchor={anchor.current}
          label="Chart settings"
          align="end"
          class="charts-more"
          onClose={() => setOpen(false)}
        >
          {settings.by.value.length ? (
            <label class="hstack apart">
              Band of a group
              <Select
                label="Band of a group"
                value={settings.spread.value}
                options={SPREADS}
                onChange={(spread) => (settings.spread.value = spread)}
              />
            </label>
          ) : null}
          <Toggle
            label="Band from minimum to maximum"
            checked={settings.band.value}
            onChange={(on) => (settings.band.value = on)}
          />
          <Toggle
            label="Superseded points of earlier attempts"
            checked={settings.superseded.value}
            onChange={(on) => (settings.superseded.value = on)}
          />
          <Toggle
            label="A line for every rank"
            checked={settings.ranks.value}
            onChange={(on) => (settings.ranks.value = on)}
          />
          <label class="hstack apart">
            Color runs by
            <ColorSelect />
          </label>
          <label class="hstack apart">
            Outliers in the y-range
            <Select
              label="Outliers in the y-range"
              value={settings.clip.value}
              options={CLIPS}
              onChange={(clip) => (settings.clip.value = clip)}
            />
          </label>
          <hr />
          <label class="hstack apart">
            Panel size
            <Select
              label="Panel size"
              value={settings.size.value}
              options={SIZES}
              onChange={(size) => (settings.size.value = size)}
            />
          </label>
          <label class="hstack apart">
            Panels in a row
            <Select
              label="Panels in a row"
              value={String(settings.columns.value)}
              options={["0", "1", "2", "3", "4", "5", "6"].map((value) => ({
                value,
                label: value === "0" ? "As many as fit" : value,
              }))}
              onChange={(n) => (settings.columns.value = Number(n))}
            />
          </label>
        </Popover>
      ) : null}
    </div>
  );
}
