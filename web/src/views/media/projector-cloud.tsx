/**
 * The cloud itself: drag turns it (or moves it in the plane), the wheel zooms, a click chooses, shift and drag picks
 * many.
 */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { drawCloud } from "../../charts/draw-cloud";
import { readInks, sharpContext } from "../../charts/inks";
import { visibleText } from "../../lib/format";
import type { Shape } from "../../lib/class-inks";
import { ASLANT, type Cloud, FRONT, onScreen, pointAt, pointsIn, type View } from "../../lib/projector";
import type { MediaItem } from "../../lib/schema";
import { isDark } from "../../theme";
import { Sprite } from "../charts/embedding-view";
import { useSize } from "../charts/visible";

export interface Tip {
  item: MediaItem;
  sheet: MediaItem | undefined;
  row: number;
  lines: readonly (readonly [string, string])[];
}

export interface CloudProps {
  cloud: Cloud;
  deep: boolean;
  colours: readonly string[];
  shapes: readonly Shape[];
  strong: ReadonlySet<number> | null;
  near: readonly number[];
  chosen: number;
  onChoose(point: number): void;
  onPick(points: number[]): void;
  busy: boolean;
  part: number;
  tip(point: number): Tip;
}

const NEAR_PX = 12;
const STILL_PX = 4;
const TURN = 0.009;
const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function CloudView(props: CloudProps) {
  const { cloud, deep, colours, shapes, strong, near, chosen } = props;
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(place);
  const [view, setView] = useState<View>(deep ? ASLANT : FRONT);
  const [hovered, setHovered] = useState(-1);
  const [box, setBox] = useState<{ left: number; top: number; right: number; bottom: number } | null>(null);
  const drag = useRef<{ x: number; y: number; from: { x: number; y: number }; shift: boolean } | null>(null);
  useEffect(() => setView(deep ? ASLANT : FRONT), [deep]);
  const screen = size ? onScreen(cloud, view, size.width, size.height) : null;
  useEffect(() => {
    if (!size || !canvas.current || !screen) return;
    const ctx = sharpContext(canvas.current, size.width, size.height);
    if (ctx) drawCloud(ctx, screen, size, readInks(), { colours, shapes, strong, near, chosen, hovered, deep });
  }, [size, cloud, view, colours, shapes, strong, near.join(), chosen, hovered, deep, isDark.value]);
  const move = useCallback(
    (dx: number, dy: number) =>
      setView((now) =>
        deep
          ? { ...now, yaw: now.yaw + dx * TURN, pitch: Math.max(-1.5, Math.min(1.5, now.pitch + dy * TURN)) }
          : {
              ...now,
              panX: now.panX + dx / Math.min(size?.width ?? 1, size?.height ?? 1),
              panY: now.panY + dy / Math.min(size?.width ?? 1, size?.height ?? 1),
            },
      ),
    [deep, size],
  );
  useWheelZoom(place, setView);
  const at = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const around = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - around.left, y: event.clientY - around.top };
  };
  const moved = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const here = at(event);
    const held = drag.current;
    if (!held) return setHovered(screen ? pointAt(screen, here.x, here.y, NEAR_PX) : -1);
    if (held.shift)
      setBox({
        left: Math.min(held.from.x, here.x),
        top: Math.min(held.from.y, here.y),
        right: Math.max(held.from.x, here.x),
        bottom: Math.max(held.from.y, here.y),
      });
    else move(here.x - held.x, here.y - held.y);
    drag.current = { ...held, ...here };
  };
  const released = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const held = drag.current;
    drag.current = null;
    if (!held || !screen) return;
    const here = at(event);
    if (box) props.onPick(pointsIn(screen, box.left, box.top, box.right, box.bottom));
    else if (Math.hypot(here.x - held.from.x, here.y - held.from.y) < STILL_PX)
      props.onChoose(pointAt(screen, here.x, here.y, NEAR_PX));
    setBox(null);
  };
  const tip = hovered >= 0 && screen && size && !box ? props.tip(hovered) : null;
  return (
    <div
      ref={place}
      class="anchor clipped framed raised cloud"
      role="application"
      tabIndex={0}
      aria-label={`${cloud.length / 3} points. Drag or use the arrow keys to ${deep ? "turn" : "move"} them, plus and minus to zoom.`}
      aria-busy={props.busy}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const here = at(event);
        drag.current = { ...here, from: here, shift: event.shiftKey };
      }}
      onPointerMove={moved}
      onPointerUp={released}
      onPointerCancel={() => ((drag.current = null), setBox(null))}
      onPointerLeave={() => setHovered(-1)}
      onDblClick={() => setView(deep ? ASLANT : FRONT)}
      onKeyDown={(event) => {
        const arrow = ARROWS[event.key];
        const zoom = event.key === "+" || event.key === "=" ? 1.25 : event.key === "-" ? 0.8 : 0;
        if (!arrow && !zoom && event.key !== "0") return;
        event.preventDefault();
        event.stopPropagation();
        if (arrow) move(arrow[0] * 15, arrow[1] * 15);
        else setView((now) => (zoom ? { ...now, zoom: now.zoom * zoom } : deep ? ASLANT : FRONT));
      }}
    >
      <canvas ref={canvas} class="cover" />
      {box ? (
        <i
          class="cloud-box"
          style={{ left: box.left, top: box.top, width: box.right - box.left, height: box.bottom - box.top }}
        />
      ) : null}
      {props.busy ? (
        <p class="hstack gap-2 soft small raised cloud-busy" role="status">
          {cloud.length === 0 || props.part === 0 ? "Projecting…" : `Projecting, ${Math.round(100 * props.part)}%`}
          <progress max={1} value={props.part > 0 ? props.part : undefined} aria-label="Progress" />
        </p>
      ) : null}
      {tip && screen && size ? (
        <PointCard
          tip={tip}
          left={screen.x[hovered] as number}
          top={screen.y[hovered] as number}
          width={size.width}
          height={size.height}
        />
      ) : null}
    </div>
  );
}

function useWheelZoom(place: { current: HTMLElement | null }, setView: (change: (now: View) => View) => void): void {
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      // Who only scrolls past keeps scrolling; a click, or Ctrl, says that the cloud is meant.
      if (!event.ctrlKey && document.activeElement !== element) return;
      event.preventDefault();
      setView((now) => ({ ...now, zoom: Math.max(0.3, Math.min(60, now.zoom * 2 ** (-event.deltaY / 300))) }));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);
}

function PointCard({
  tip,
  left,
  top,
  width,
  height,
}: {
  tip: Tip;
  left: number;
  top: number;
  width: number;
  height: number;
}) {
  const right = left > width - 180;
  const below = top < height / 2;
  return (
    <div
      class="vstack one-line floating tip embedding-card"
      style={{
        left: right ? undefined : left + 12,
        right: right ? width - left + 12 : undefined,
        top: below ? top + 8 : undefined,
        bottom: below ? undefined : height - top + 8,
      }}
    >
      {tip.sheet ? <Sprite item={tip.item} sheet={tip.sheet} row={tip.row} /> : null}
      {tip.lines.slice(0, 6).map(([name, value]) => (
        <span key={name} class="isolate">
          <span class="quiet">{visibleText(name)}</span> {visibleText(value.slice(0, 60))}
        </span>
      ))}
      <span class="quiet">row {tip.row.toLocaleString("en-US")}</span>
    </div>
  );
}
