/** The drawing itself: ruler, names of lanes, and two canvases of which only one is drawn when the pointer moves. */

import { useComputed, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { BlockPainter, drawOverlay, type DrawnSource, drawRuler, RULER } from "../../../charts/draw-timeline";
import { readInks, rgb, sharpContext } from "../../../charts/inks";
import { SpokenTable } from "../../../components/spoken-table";
import { LANE_HEAD, laneRows } from "../../../lib/timeline-spoken";
import { inksOfKinds, inksOfNames, pixel } from "../../../lib/timeline-inks";
import { isDark } from "../../../theme";
import { listen } from "./gestures";
import { LaneNames } from "./lane-names";
import type { TimelineState } from "./state";
import { HoverTip } from "./tip";

/** Reads signals at once, draws in the next frame; several changes before that are one drawing. */
function useDrawing(read: () => () => void): void {
  const slot = useRef({ frame: 0, draw: (): void => undefined });
  const latest = useRef(read);
  latest.current = read;
  useSignalEffect(() => {
    slot.current.draw = latest.current();
    slot.current.frame ||= requestAnimationFrame(() => {
      slot.current.frame = 0;
      slot.current.draw();
    });
  });
  useLayoutEffect(() => () => cancelAnimationFrame(slot.current.frame), []);
}

export function Stage({ state }: { state: TimelineState }) {
  const stage = useRef<HTMLDivElement>(null);
  const names = useRef<HTMLDivElement>(null);
  const rulerBox = useRef<HTMLDivElement>(null);
  const [blocks, over, ruler] = [
    useRef<HTMLCanvasElement>(null),
    useRef<HTMLCanvasElement>(null),
    useRef<HTMLCanvasElement>(null),
  ];
  const painter = useMemo(() => new BlockPainter(), []);
  useLayoutEffect(
    () => listen(stage.current as HTMLElement, rulerBox.current as HTMLElement, names.current as HTMLElement, state),
    [state],
  );

  /** Colours are made anew only when they change; fading what is not searched for costs nothing. */
  const inks = useComputed(() => {
    const dark = isDark.value;
    const byKind = state.colourBy.value === "kind";
    return state.sources.value.map((source) => ({
      inks: byKind ? inksOfKinds(dark) : inksOfNames(source.names, dark),
      byKind,
    }));
  });
  const drawn = useComputed<DrawnSource[]>(() => {
    void isDark.value;
    const page = readInks();
    const [background, edge] = [pixelOf(page.background), pixelOf(page.background)];
    const { lit } = state.search.value;
    return state.sources.value.map((source, at) => ({
      store: source.store,
      names: source.names,
      offset: source.offset,
      span: source.page.span_ns,
      tile: source.page.tile,
      paint: {
        inks: inks.value[at]?.inks ?? new Uint32Array(0),
        byKind: inks.value[at]?.byKind ?? false,
        lit: lit[at] ?? null,
        background,
        edge,
      },
    }));
  });

  useDrawing(() => {
    const { width, height } = state.size.value;
    const scene = {
      camera: state.camera.value,
      scroll: state.scroll.value,
      width,
      height,
      rows: state.rows.value,
      sources: drawn.value,
    };
    void state.arrived.value;
    return () => {
      if (!blocks.current || width === 0) return;
      painter.draw(blocks.current, scene, readInks());
      state.fetchVisible();
    };
  });
  useDrawing(() => {
    const overlay = overlayOf(state);
    void isDark.value;
    return () => {
      const ctx = over.current && sharpContext(over.current, overlay.width, overlay.height);
      if (ctx) drawOverlay(ctx, overlay, readInks());
    };
  });
  useDrawing(() => {
    const scene = rulerOf(state);
    void isDark.value;
    return () => {
      const ctx = ruler.current && sharpContext(ruler.current, scene.width, RULER);
      if (ctx) drawRuler(ctx, scene, readInks());
    };
  });
  return (
    <div class="timeline-frame">
      <div class="timeline-corner" />
      <div class="timeline-ruler" ref={rulerBox} title="Drag to select a stretch of time">
        <canvas ref={ruler} class="cover" />
      </div>
      <div class="timeline-names" ref={names}>
        <LaneNames state={state} />
      </div>
      <div
        class="timeline-stage"
        ref={stage}
        tabIndex={0}
        role="application"
        aria-label="Timeline. W and S zoom, A and D move, arrows go through time and lanes."
        data-selecting={state.selecting.value || undefined}
      >
        <canvas ref={blocks} class="cover" />
        <canvas ref={over} class="cover timeline-over" />
        <HoverTip state={state} />
      </div>
      <SpokenTable
        caption="Lanes of the timeline, the busiest first"
        head={LANE_HEAD}
        rows={laneRows(state.sources.value.map((source) => source.page))}
      />
    </div>
  );
}

function pixelOf(colour: string): number {
  const [r = 0, g = 0, b = 0] = rgb(colour);
  return pixel([r, g, b]);
}

function overlayOf(state: TimelineState) {
  const { width, height } = state.size.value;
  const { begin, scale } = state.camera.value;
  void state.scroll.value, state.rows.value;
  const chosen = state.chosen.value;
  const hovered = state.hovered.value;
  const range = state.range.value;
  const x = (time: number) => (time - begin) / scale;
  const from = chosen ? state.boxOf(chosen.source, chosen.event.at) : null;
  return {
    width,
    height,
    lanesTop: 0,
    hovered: hovered
      ? state.boxOf(hovered.hit.row.source, {
          event: 0,
          name: "",
          lane: hovered.hit.row.lane.id,
          depth: hovered.hit.depth,
          start_ns: hovered.hit.start,
          dur_ns: hovered.hit.dur,
        })
      : null,
    chosen: from,
    arrows: from && chosen ? arrowsOf(state, chosen, from) : [],
    range: range ? ([x(range[0]), x(range[1])] as const) : null,
    steps: stepsOn(state).map(({ x, label }) => ({ x: Math.round(x) + 0.5, label })),
    crosshair: state.crosshair.value,
  };
}

function arrowsOf(
  state: TimelineState,
  chosen: NonNullable<typeof state.chosen.value>,
  from: { x: number; y: number; width: number; height: number },
) {
  return chosen.event.arrows.flatMap((arrow) => {
    const to = state.boxOf(chosen.source, arrow.to);
    if (!to) return [];
    const away = arrow.relation === "launches" || arrow.relation === "backward";
    const [a, b] = away ? [from, to] : [to, from];
    return [{ fromX: a.x + a.width, fromY: a.y + a.height / 2, toX: b.x, toY: b.y + b.height / 2 }].map((one) =>
      one.fromX > one.toX ? { ...one, fromX: a.x } : one,
    );
  });
}

/** The steps of the first rank that are on the screen. */
function stepsOn(state: TimelineState): { x: number; width: number; label: string }[] {
  const source = state.sources.value[0];
  const { begin, scale } = state.camera.value;
  const { width } = state.size.value;
  if (!source || (source.page.steps.length === 1 && source.page.steps[0]?.inferred)) return [];
  const found = source.page.steps.map((step) => ({
    x: (source.offset + step.begin_ns - begin) / scale,
    width: (step.end_ns - step.begin_ns) / scale,
    label: `Step ${step.number}${step.inferred ? " (inferred)" : ""}`,
  }));
  const seen = found.filter((step) => step.x + step.width > 0 && step.x < width);
  return seen.length > width / 3 ? [] : seen;
}

const MARKS = 400;

function rulerOf(state: TimelineState) {
  const camera = state.camera.value;
  const { width } = state.size.value;
  const marks = new Array<number>(MARKS).fill(0);
  let any = false;
  state.search.value.found.forEach((found, at) => {
    const source = state.sources.value[at];
    if (!found || !source || found.marks.length === 0) return;
    const each = (source.page.span_ns + 1) / found.marks.length;
    found.marks.forEach((hits, bucket) => {
      if (hits === 0) return;
      const x = (source.offset + (bucket + 0.5) * each - camera.begin) / camera.scale;
      const slot = Math.floor((x / width) * MARKS);
      if (slot >= 0 && slot < MARKS) (marks[slot] = (marks[slot] as number) + hits), (any = true);
    });
  });
  return { camera, width, zero: state.zero.value, steps: stepsOn(state), marks: any ? marks : [] };
}
