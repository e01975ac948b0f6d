import { useEffect, useMemo } from "preact/hooks";
import { makeLayouts } from "../../graph/layouts";
import { GraphState } from "../../graph/state";
import { measureText } from "../../graph/text-size";
import { GraphViewer } from "../../graph/viewer";
import { call } from "../../lib/api";
import type { ModelPage } from "../../lib/schema";
import "../../style/model.css";
import { ModuleTable } from "../../views/model/table";
import { Asked } from "./asked";
import { layoutWorker } from "./graph-worker";

export interface ModelFigureProps {
  run: string;
  recording: string | null;
  step: number | null;
  backward: boolean;
  table: boolean;
  height: number | null;
}

export function ModelFigure({ run, recording, step, backward, table, height }: ModelFigureProps) {
  const request = { run, key: recording, step, backward, optimizer: false };
  return (
    <Asked
      question={JSON.stringify(request)}
      runs={[]}
      height={height ?? 420}
      ask={(stop) => call("POST /api/model", request, { signal: stop })}
    >
      {(page) => (
        <Drawn
          page={page}
          table={table}
          height={height ?? (table ? Math.min(440, 60 + 28 * page.modules.length) : 460)}
        />
      )}
    </Asked>
  );
}

/** What fits on a page of A4 below its heading. */
const MOST_ON_PAPER_PX = 760;
const MARGIN_PX = 56;

/** Paper cannot be scrolled: all of the graph is on it, as high as that needs. The height, or null on a screen. */
function usePaper(state: GraphState): number | null {
  const paper = document.documentElement.dataset.paper !== undefined;
  const scene = state.scene.value;
  const { width } = state.screen.value;
  const whole = () => state.fitAll(false, true);
  useEffect(() => {
    addEventListener("beforeprint", whole);
    return () => removeEventListener("beforeprint", whole);
  }, [state]);
  const scale = scene ? Math.min(1, (width - MARGIN_PX) / Math.max(1, scene.width)) : 1;
  const height =
    paper && scene && width > 0 ? Math.min(MOST_ON_PAPER_PX, Math.round(scene.height * scale) + MARGIN_PX) : null;
  useEffect(() => {
    if (height === null) return;
    const later = setTimeout(whole, 50); // after the first fit of its own, and after the new height
    return () => clearTimeout(later);
  }, [state, scene, width, height]);
  return height;
}

function Drawn({ page, table, height }: { page: ModelPage; table: boolean; height: number }) {
  const state = useMemo(
    () =>
      new GraphState(
        page.graph,
        makeLayouts(layoutWorker, async () => (await import("../../lib/graph-layout")).placePlan),
        measureText(),
      ),
    [page],
  );
  useEffect(() => () => state.close(), [state]);
  const onPaper = usePaper(state);
  return (
    <div class="clipped framed report-model" style={{ height: table ? height : (onPaper ?? height) }}>
      {table ? <ModuleTable rows={page.modules} state={state} /> : <GraphViewer state={state} />}
    </div>
  );
}
