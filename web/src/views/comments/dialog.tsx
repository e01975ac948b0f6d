/** What is said about one chart, for one of the runs it draws. */

import { useState } from "preact/hooks";
import { Dialog, Select } from "../../components";
import { visibleText } from "../../lib/format";
import { nameOf } from "../../state";
import { Comments } from "./comments";

export interface ChartCommentsProps {
  chart: string;
  runs: readonly string[];
  /** Where the marker or the held crosshair stands; "" for nowhere. */
  step: string;
  onClose(): void;
}

export function ChartComments({ chart, runs, step, onClose }: ChartCommentsProps) {
  const [run, setRun] = useState(runs[0] ?? "");
  const options = runs.map((id) => ({ value: id, label: visibleText(nameOf(id)) }));
  return (
    <Dialog title={`Comments on ${visibleText(chart)}`} onClose={onClose}>
      {runs.length > 1 ? <Select label="Run" value={run} options={options} onChange={setRun} /> : null}
      <Comments key={run} run={run} chart={chart} step={step} />
    </Dialog>
  );
}
