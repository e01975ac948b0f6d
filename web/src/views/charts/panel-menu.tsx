/** What one panel can do: its own axis, downloads, a link. */

import { useState } from "preact/hooks";
import { fileName, savePng, saveText } from "../../charts/download";
import { readInks } from "../../charts/inks";
import { Button, copyText, Dialog, Menu, type MenuItem, TextInput, toast } from "../../components";
import { lazily } from "../../components/lazily";
import {
  ChartIcon,
  CopyIcon,
  DownloadIcon,
  EyeOffIcon,
  MoreIcon,
  PencilIcon,
  PlusIcon,
  ReportIcon,
  TableIcon,
  TrashIcon,
} from "../../components/icons";
import { linesCsv } from "../../lib/chart-csv";
import type { Range } from "../../lib/chart-line";
import { panelId } from "../../lib/chart-sections";
import { panelX, smoothCodec, withOptions, xLabel } from "../../lib/chart-settings";
import { chartSvg } from "../../lib/chart-svg";
import { usable } from "../../lib/chart-zoom";
import { visibleText } from "../../lib/format";
import type { PanelInfo } from "../../lib/schema";
import { hideAutomatic, type OwnPanel, removePanel } from "../../lib/workspace";
import { formatHash, list } from "../../lib/url";
import { standsAlone } from "../../panels/parts/standing";
import { place } from "../../router";
import { nameOf, signedIn } from "../../state";
import { NEW_SECTION, put } from "../workspace/drag";
import { change, space } from "../workspace/space";
import { held, hover } from "./hover";
import type { PanelHandle } from "./line-panel";
import { type ChartScope, useScope } from "./scope";
import type { ChartSettings } from "./settings";
import { runName } from "../../twins";

const ChartComments = lazily(() => import("../comments/dialog").then((chunk) => chunk.ChartComments));
const AddToReport = lazily(() => import("../reports/add").then((chunk) => chunk.AddToReport));

export interface PanelMenuProps {
  info: PanelInfo;
  own?: OwnPanel | undefined;
  handle: { current: (() => PanelHandle | null) | null };
  onRange(): void;
}

export function PanelMenu({ info, own, handle, onRange }: PanelMenuProps) {
  const scope = useScope();
  const { settings } = scope;
  const [adding, setAdding] = useState(false);
  const [commenting, setCommenting] = useState(false);
  const about: MenuItem[] = standsAlone()
    ? []
    : [
        linkItem(scope, info),
        { key: "report", label: "Add to report…", icon: <ReportIcon size={14} />, onPick: () => setAdding(true) },
        ...(signedIn.value
          ? [{ key: "comments", label: "Comments…", icon: <PencilIcon size={14} />, onPick: () => setCommenting(true) }]
          : []),
      ];
  const items: MenuItem[] =
    info.kind === "scalar" ? [...scalarItems(settings, info, handle, onRange), ...about] : about;
  if (scope.arranged) items.push(...placeItems(info, own));
  if (items.length === 0) return null;
  return (
    <>
      <Menu label="Panel menu" button={<MoreIcon size={14} />} buttonClass="icon-button" align="end" items={items} />
      {adding ? (
        <AddToReport {...reportPanel(settings, info)} runs={scope.drawnRuns.peek()} onClose={() => setAdding(false)} />
      ) : null}
      {commenting ? (
        <ChartComments
          chart={info.key}
          runs={scope.drawnRuns.peek()}
          step={settings.mark.peek() || heldStep()}
          onClose={() => setCommenting(false)}
        />
      ) : null}
    </>
  );
}

/** The step at which a click holds the crosshairs. */
function heldStep(): string {
  const at = hover.peek();
  return held.peek() && at?.axis === "step" ? String(Math.round(at.value)) : "";
}

/** Where the panel stands: all that dragging does, for who does not drag. */
function placeItems(info: PanelInfo, own: OwnPanel | undefined): MenuItem[] {
  if (own)
    return [
      {
        key: "remove",
        label: "Remove from this section",
        icon: <TrashIcon size={14} />,
        hint: "Del",
        onPick: () => change((now) => removePanel(now, own.id)),
      },
    ];
  const homes = space.peek().sections.map((section) => ({
    key: `to ${section.id}`,
    label: `Move to “${visibleText(section.name)}”`,
    icon: <PlusIcon size={14} />,
    onPick: () => put(info, { section: section.id, before: null }),
  }));
  return [
    ...homes.slice(0, 8),
    {
      key: "new",
      label: "Move to a new section",
      icon: <PlusIcon size={14} />,
      onPick: () => put(info, { section: NEW_SECTION, before: null }),
    },
    {
      key: "hide",
      label: "Hide panel",
      icon: <EyeOffIcon size={14} />,
      hint: "Del",
      onPick: () => change((now) => hideAutomatic(now, panelId(info))),
    },
  ];
}

/** The panel as a report would have it, drawn as it is drawn now. */
function reportPanel(settings: ChartSettings, info: PanelInfo): { panel: string; options: Record<string, unknown> } {
  if (info.kind === "histogram") return { panel: "distribution", options: { key: info.key } };
  if (info.kind !== "scalar") return { panel: info.kind === "image" ? "image" : "media", options: { key: info.key } };
  const own = settings.panelOptions.peek()[info.key] ?? {};
  const x = panelX(settings.xAxis.peek(), info.x);
  const [lo, hi] = settings.zooms.peek()[x] ?? [];
  const [min, max] = own.y ?? [];
  const [group] = settings.by.peek();
  const smooth = smoothCodec.write(settings.smoothing.peek());
  const options = {
    key: info.key,
    x: x === "step" ? undefined : x,
    smooth,
    log: (own.log ?? settings.logY.peek()) || undefined,
    lo,
    hi,
    min,
    max,
    group,
  };
  return { panel: group ? "band" : "chart", options };
}

function linkItem({ runs }: ChartScope, info: PanelInfo): MenuItem {
  return {
    key: "link",
    label: "Copy a link to this panel",
    icon: <CopyIcon size={14} />,
    onPick() {
      const hash = formatHash({
        path: "/charts",
        query: { ...place.peek().query, part: "", runs: list.write([...runs.peek()]), full: panelId(info) },
      });
      void copyText(new URL(hash, location.href).href, "Link copied");
    },
  };
}

function scalarItems(
  settings: ChartSettings,
  info: PanelInfo,
  handle: PanelMenuProps["handle"],
  onRange: () => void,
): MenuItem[] {
  const own = settings.panelOptions.value[info.key] ?? {};
  const log = own.log ?? settings.logY.value;
  const setOwn = (change: typeof own) =>
    (settings.panelOptions.value = withOptions(settings.panelOptions.peek(), info.key, change));
  const withDrawn = (use: (drawn: PanelHandle) => void) => () => {
    const drawn = handle.current?.();
    if (drawn) use(drawn);
    else toast("Scroll the panel into view first.", "warning");
  };
  return [
    {
      key: "log",
      label: log ? "Linear y-axis" : "Log y-axis",
      icon: <ChartIcon size={14} />,
      hint: "l",
      onPick: () => setOwn({ log: !log }),
    },
    { key: "range", label: "Set the y-range…", icon: <ChartIcon size={14} />, onPick: onRange },
    {
      key: "png",
      label: "Download PNG",
      icon: <DownloadIcon size={14} />,
      onPick: withDrawn((d) => downloadPng(info, d)),
    },
    {
      key: "svg",
      label: "Download SVG",
      icon: <DownloadIcon size={14} />,
      onPick: withDrawn((d) => downloadSvg(info, d)),
    },
    {
      key: "csv",
      label: "Download CSV",
      icon: <TableIcon size={14} />,
      onPick: withDrawn((d) => downloadCsv(info, d)),
    },
  ];
}

const named = (drawn: PanelHandle) => drawn.scene.lines.map((l) => ({ ...l, name: runName(l.line.run) }));

function downloadPng(info: PanelInfo, drawn: PanelHandle): void {
  savePng(drawn.plot.canvas, { title: visibleText(info.key), xLabel: xLabel(drawn.scene.x), lines: named(drawn) });
}

function downloadSvg(info: PanelInfo, drawn: PanelHandle): void {
  const { lines: _, x, ...scene } = drawn.scene;
  const { clientWidth: width, clientHeight: height } = drawn.plot.canvas;
  const svg = chartSvg({
    title: visibleText(info.key),
    xLabel: xLabel(x),
    ...scene,
    lines: named(drawn),
    width: Math.max(480, width),
    height: Math.max(300, height + 60),
    inks: readInks(),
  });
  saveText(svg, "image/svg+xml", fileName(info.key, "svg"));
}

function downloadCsv(info: PanelInfo, drawn: PanelHandle): void {
  saveText(
    linesCsv(
      drawn.scene.lines.map((l) => l.line),
      drawn.scene.x,
      nameOf,
    ),
    "text/csv",
    fileName(info.key, "csv"),
  );
}

/** Asks for a y-range; empty fields mean "by itself". */
export function RangeDialog({ info, now, onClose }: { info: PanelInfo; now: Range | null; onClose(): void }) {
  const { settings } = useScope();
  const [low, setLow] = useState(now ? String(Number(now[0].toPrecision(6))) : "");
  const [high, setHigh] = useState(now ? String(Number(now[1].toPrecision(6))) : "");
  const range: Range = [Number(low), Number(high)];
  const empty = !low.trim() && !high.trim();
  const good = empty || (low.trim() !== "" && high.trim() !== "" && usable(range));
  const apply = () => {
    if (!good) return;
    settings.panelOptions.value = withOptions(settings.panelOptions.peek(), info.key, { y: empty ? undefined : range });
    onClose();
  };
  return (
    <Dialog title="Y-range" onClose={onClose}>
      <form
        class="range-form"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <TextInput label="From" placeholder="from" inputMode="decimal" value={low} bad={!good} onInput={setLow} />
        <TextInput label="To" placeholder="to" inputMode="decimal" value={high} bad={!good} onInput={setHigh} />
        <Button kind="primary" type="submit" disabled={!good}>
          Set
        </Button>
        <p>{good ? "Leave both empty to fit the data." : "Two numbers, the smaller one first."}</p>
      </form>
    </Dialog>
  );
}
