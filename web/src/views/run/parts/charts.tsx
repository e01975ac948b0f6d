/** The charts of one run. */

import { EmptyState, Lesson, Lessons } from "../../../components";
import { ChartIcon } from "../../../components/icons";
import type { RunDetail } from "../../../lib/schema";
import { ChartBoard } from "../../charts/board";

const isNumber = (info: { kind: string; section: string }) => info.section !== "system" && info.kind === "scalar";

export function ChartsPart({ run }: { run: RunDetail }) {
  const empty = <NoCharts running={run.status === "running"} />;
  return run.parts.metrics === 0 ? empty : <ChartBoard runs={[run.id]} accept={isNumber} empty={empty} />;
}

const LOG = `run.log({"train/loss": loss, "lr": lr})`;

function NoCharts({ running }: { running: boolean }) {
  return (
    <EmptyState title={running ? "Nothing logged yet" : "This run logged no numbers"} icon={ChartIcon}>
      <p>A chart appears with the first point of a metric.</p>
      <Lessons>
        <Lesson title="Log from your own loop" text={LOG} />
        <Lesson
          title="Or run the script unchanged: its loss, gradient norm and learning rate are recorded"
          text="stepscope run train.py"
        />
      </Lessons>
    </EmptyState>
  );
}
