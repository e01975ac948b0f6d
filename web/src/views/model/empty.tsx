/** No recording yet: how to make one. */

import { EmptyState, Lesson, Lessons } from "../../components";
import { BoxIcon } from "../../components/icons";

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
    <EmptyState title={run ? "This run has no recorded step" : "No recorded step yet"} icon={BoxIcon}>
      <p>A recording is every operation of one step: what ran, on which line, with which shapes, and what it cost.</p>
      <Lessons>
        <Lesson title="Record a step and log it" text={RECORD} />
        <Lesson title="Or save it as one file that works offline" text={ALONE} />
        <Lesson title="Or from the shell" text={SHELL} />
      </Lessons>
    </EmptyState>
  );
}
