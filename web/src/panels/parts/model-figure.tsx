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
    <Asked question={JSON.stringify(request)} runs={[]} height={height ?? 420} ask={(stop) => call("POST /api/model", request, { signal: stop })}>
      {(page) => <Drawn page={page} table={table} height={height ?? (table ? Math.min(440, 60 + 28 * page.modules.length) : 460)} />}
    </Asked>
  );
}

function Drawn({ page, table, height }: { page: ModelPage; table: boolean; height: number }) {
  const state = useMemo(() => new GraphState(page.graph, makeLayouts(layoutWorker, async () => (await import("../../lib/graph-layout")).placePlan), measureText()), [page]);
  useEffect(() => () => state.close(), [state]);
  return (
    <div class="report-model" style={{ height }}>
      {table ? <ModuleTable rows={page.modules} state={state} /> : <GraphViewer state={state} />}
    </div>
  );
}
