/** No recording yet: how to make one. */

import { EmptyState } from "../../components";
import { linkTo } from "../../router";
import { Lesson } from "../runs/empty";

const RECORD = `import stepscope

run = stepscope.init(project="first")
with stepscope.record(model) as step:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
run.log({"recording": step})`;

const ALONE = 'step.graph().save("net.html")';
const SHELL = "stepscope inspect net:Net --input 1,3,32,32 --graph net.html";

export function NoRecording({ run }: { run: string }) {
  return (
    <EmptyState title={run ? "This run has no recorded step" : "No recorded step yet"}>
      <p>A recording is every operation of one step: what ran, on which line, with which shapes, and what it cost.</p>
      <div class="vstack gap-3 to-left lessons">
        <Lesson title="Record a step and log it" text={RECORD} />
        <Lesson title="Or save it as one file that works offline" text={ALONE} />
        <Lesson title="Or from the shell" text={SHELL} />
      </div>
      <p>
        <a href={linkTo("/runs")}>All runs</a>
      </p>
    </EmptyState>
  );
}
