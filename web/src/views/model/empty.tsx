/** No recording yet: how to make one. */

import { copyText, EmptyState, IconButton } from "../../components";
import { CopyIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import { linkTo } from "../../router";
import { nameOf } from "../../state";

const RECORD = `import stepscope

run = stepscope.init(project="first")
with stepscope.record(model) as step:      # one step of your own loop
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
run.log({"step": step})                    # it appears here`;

const ALONE = `step.graph().save("net.html")             # one file, works offline`;
const SHELL = "stepscope inspect train:build_model --input 1,3,224,224 --graph net.html";

export function NoRecording({ run }: { run: string }) {
  return (
    <EmptyState title={run ? "This run has no recorded step" : "No recorded step yet"}>
      <p>
        {run ? <strong class="isolate">{visibleText(nameOf(run))}</strong> : null} A recording is every operation of one
        step: what ran, on which line, with which shapes, and what it cost.
      </p>
      <div class="lessons">
        <Lesson title="Record a step and log it" text={RECORD} />
        <Lesson title="Or look at it without a run" text={ALONE} />
        <Lesson title="Or from the shell" text={SHELL} />
      </div>
      <p>
        <a href={linkTo("/runs")}>All runs</a>
      </p>
    </EmptyState>
  );
}

function Lesson({ title, text }: { title: string; text: string }) {
  return (
    <section class="lesson">
      <header>
        <h3>{title}</h3>
        <IconButton label={`Copy: ${title}`} onClick={() => void copyText(text)}>
          <CopyIcon size={14} />
        </IconButton>
      </header>
      <pre>{text}</pre>
    </section>
  );
}
