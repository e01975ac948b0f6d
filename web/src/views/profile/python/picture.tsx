/** The icicle or flame itself. */

import { useComputed, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { drawFrames, FRAME_ROW, type IcicleScene, IciclePainter, rowTop } from "../../../charts/draw-icicle";
import { readInks, rgb, sharpContext } from "../../../charts/inks";
import { frameInks } from "../../../lib/icicle-colour";
import { nodeAt } from "../../../lib/icicle-tree";
import { pixel } from "../../../lib/timeline-inks";
import { isDark } from "../../../theme";
import { listen } from "./gestures";
import type { PythonState } from "./state";
import { FrameTip } from "./tip";

export function Picture({ state }: { state: PythonState }) {
  const stage = useRef<HTMLDivElement>(null);
  const [image, over] = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
  const painter = useMemo(() => new IciclePainter(), []);
  useLayoutEffect(() => listen(stage.current as HTMLElement, state), [state]);
  const inks = useComputed(() =>
    state.stack.value ? frameInks(state.stack.value, state.packages.value, state.colour.value, isDark.value) : null,
  );
  const scene = useComputed<IcicleScene | null>(() => {
    const tree = state.tree.value;
    const [r = 0, g = 0, b = 0] = (void isDark.value, rgb(readInks().background));
    if (!tree || !inks.value) return null;
    return {
      tree,
      view: state.view.value,
      scroll: state.scroll.value,
      ...state.size.value,
      flame: state.flame.value,
      paint: { inks: inks.value, lit: state.lit.value, background: pixel([r, g, b]) },
      words: (node) => tree.stack.names[tree.name[node] as number] ?? "",
    };
  });
  const frame = useRef(0);
  useSignalEffect(() => {
    const drawn = scene.value;
    const [hovered, chosen] = [state.hovered.value?.node ?? -1, state.chosen.value];
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      if (!drawn || drawn.width === 0 || !image.current || !over.current) return;
      painter.draw(image.current, drawn, readInks());
      const ctx = sharpContext(over.current, drawn.width, drawn.height);
      if (ctx) drawFrames(ctx, boxOf(drawn, hovered), boxOf(drawn, chosen), readInks());
    });
  });
  useLayoutEffect(() => () => cancelAnimationFrame(frame.current), []);
  const name =
    state.tree.value && state.chosen.value >= 0
      ? state.tree.value.stack.names[state.tree.value.name[state.chosen.value] as number]
      : "";
  return (
    <div
      ref={stage}
      class="icicle-stage"
      tabIndex={0}
      role="application"
      aria-label="Call tree. Arrows move, Enter zooms in, Backspace out."
    >
      <canvas ref={image} class="cover" />
      <canvas ref={over} class="cover icicle-over" />
      <FrameTip state={state} />
      <span class="visually-hidden" role="status">
        {name}
      </span>
    </div>
  );
}

function boxOf(scene: IcicleScene, node: number): { x: number; y: number; width: number } | null {
  if (node < 0 || node >= scene.tree.parent.length) return null;
  const scale = scene.width / Math.max(1e-300, scene.view.to - scene.view.from);
  const x = ((scene.tree.from[node] as number) - scene.view.from) * scale;
  const right = ((scene.tree.to[node] as number) - scene.view.from) * scale;
  const left = Math.max(0, x);
  return { x: left, y: rowTop(scene, scene.tree.depth[node] as number), width: Math.min(scene.width, right) - left };
}

/** The node at a place of the stage, or -1. */
export function nodeUnder(state: PythonState, x: number, y: number): number {
  const tree = state.tree.peek();
  const { width, height } = state.size.peek();
  if (!tree || width === 0) return -1;
  const { from, to } = state.view.peek();
  const depth = Math.floor(
    (state.flame.peek() ? height - y + state.scroll.peek() : y + state.scroll.peek()) / FRAME_ROW,
  );
  return nodeAt(tree, depth, from + (x / width) * (to - from));
}
