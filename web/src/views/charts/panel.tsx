/** The frame of a panel: title, menu, keyboard; what is inside depends on its kind. */

import { useRef, useState } from "preact/hooks";
import { IconButton } from "../../components";
import { lazily } from "../../components/lazily";
import { CloseIcon, ExpandIcon, PinIcon } from "../../components/icons";
import { panelId, shortTitle } from "../../lib/chart-sections";
import { withOptions } from "../../lib/chart-settings";
import { pan, scaleRange } from "../../lib/chart-zoom";
import { count, visibleText } from "../../lib/format";
import type { PanelInfo } from "../../lib/schema";
import { type OwnPanel, pinPanel } from "../../lib/workspace";
import { change } from "../workspace/space";
import { LinePanel, type PanelHandle } from "./line-panel";
import { PanelMenu, RangeDialog } from "./panel-menu";
import { type ChartScope, useScope } from "./scope";
import { setZoom, toggled } from "./settings";
import { useVisible } from "./visible";

const HistogramPanel = lazily(() => import("./media-panels").then((chunk) => chunk.HistogramPanel));
const MediaPanel = lazily(() => import("./media-panels").then((chunk) => chunk.MediaPanel));

export interface PanelProps {
  info: PanelInfo;
  /** Shown alone over the page. */
  large?: boolean;
  /** The section already says the prefix. */
  short?: boolean;
  /** It stands in a section of one's own. */
  own?: OwnPanel;
}

export function Panel({ info, large = false, short = false, own }: PanelProps) {
  const scope = useScope();
  const { settings } = scope;
  const frame = useRef<HTMLElement>(null);
  const handle = useRef<(() => PanelHandle | null) | null>(null);
  const [asking, setAsking] = useState(false);
  const id = panelId(info);
  const seen = useVisible(frame);
  const visible = large || (seen && settings.enlarged.value !== id);
  const pinned = own ? (own.pinned ?? false) : settings.pins.value.includes(id);
  const pin = () =>
    own ? change((now) => pinPanel(now, own.id)) : void (settings.pins.value = toggled(settings.pins.value, id));
  const scalar = info.kind === "scalar";
  const title = visibleText(short ? shortTitle(info) : info.key);
  const some = info.runs < scope.runs.value.length ? count(info.runs, "run") : "";
  return (
    <article
      ref={frame}
      class="panel"
      data-kind={info.kind}
      data-key={info.key}
      data-large={large || undefined}
      tabIndex={0}
      aria-label={`${visibleText(info.key)}, ${scalar ? "chart" : info.kind}`}
      onKeyDown={(event) => onKey(event, scope, info, handle.current?.() ?? null, pin)}
    >
      <header class="hstack gap-2 panel-head">
        <h3 class="isolate ellipsis" title={visibleText(info.key)}>
          {title}
        </h3>
        {some ? (
          <span class="rigid tiny quiet" title={`Logged by ${some} of ${scope.runs.value.length}`}>
            {some}
          </span>
        ) : null}
        <Own id={info.key} />
        <span class="spring" />
        {visible ? (
          <span class="panel-tools">
            {scope.alone ? null : (
              <IconButton label={pinned ? "Unpin" : "Pin to the top (p)"} pressed={pinned} onClick={pin}>
                <PinIcon size={14} />
              </IconButton>
            )}
            <IconButton
              label={large ? "Close (Esc)" : "Enlarge (f)"}
              onClick={() => (settings.enlarged.value = large ? "" : id)}
            >
              {large ? <CloseIcon size={14} /> : <ExpandIcon size={14} />}
            </IconButton>
            <PanelMenu info={info} own={own} handle={handle} onRange={() => setAsking(true)} />
          </span>
        ) : null}
      </header>
      <div class="page anchor">{visible ? <Body info={info} handle={handle} large={large} /> : null}</div>
      {asking ? (
        <RangeDialog info={info} now={handle.current?.()?.scene.axes.y ?? null} onClose={() => setAsking(false)} />
      ) : null}
    </article>
  );
}

function Body({
  info,
  handle,
  large,
}: {
  info: PanelInfo;
  handle: { current: (() => PanelHandle | null) | null };
  large: boolean;
}) {
  if (info.kind === "scalar") return <LinePanel info={info} handle={handle} />;
  if (info.kind === "histogram") return <HistogramPanel info={info} />;
  return <MediaPanel info={info} large={large} />;
}

/** Says what this panel has of its own, and drops it on click. */
function Own({ id }: { id: string }) {
  const { settings } = useScope();
  const own = settings.panelOptions.value[id];
  if (!own) return null;
  const parts = [own.log === undefined ? "" : own.log ? "log y" : "linear y", own.y ? "own range" : ""].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <button
      type="button"
      class="badge panel-own"
      data-tone="accent"
      title="Reset to the settings of all panels"
      onClick={() =>
        (settings.panelOptions.value = withOptions(settings.panelOptions.value, id, { log: undefined, y: undefined }))
      }
    >
      {parts.join(", ")} ×
    </button>
  );
}

const PAN = 0.15;
const ZOOM = 0.7;

/** Keys on a focused panel. */
function onKey(
  event: KeyboardEvent,
  { settings, store }: ChartScope,
  info: PanelInfo,
  drawn: PanelHandle | null,
  pin: () => void,
): void {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  const id = panelId(info);
  const does: Record<string, () => void> = {
    f: () => (settings.enlarged.value = settings.enlarged.value === id ? "" : id),
    p: pin,
  };
  if (drawn) {
    const { x, axes } = drawn.scene;
    const limits = store.extents.get(x) ?? axes.x;
    const middle = axes.logX ? Math.sqrt(axes.x[0] * axes.x[1]) : (axes.x[0] + axes.x[1]) / 2;
    const scale = (factor: number) => setZoom(settings, x, scaleRange(axes.x, factor, middle, limits, axes.logX));
    const move = (by: number) => setZoom(settings, x, pan(axes.x, by, limits, axes.logX));
    Object.assign(does, {
      l: () => (settings.panelOptions.value = withOptions(settings.panelOptions.value, info.key, { log: !axes.logY })),
      ArrowLeft: () => move(-PAN),
      ArrowRight: () => move(PAN),
      "+": () => scale(ZOOM),
      "=": () => scale(ZOOM),
      "-": () => scale(1 / ZOOM),
      "0": () => setZoom(settings, x, null),
    });
  }
  const act = does[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
