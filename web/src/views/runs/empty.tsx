/** Nothing to show: teach the first steps, or say why nothing fits. */

import { Button, EmptyState, Lesson, Lessons } from "../../components";
import { LogoIcon, SearchIcon } from "../../components/icons";
import { info } from "../../components/topbar";
import { count, visibleText } from "../../lib/format";
import { project } from "../../state";
import { table } from "./data";
import { query } from "./settings";

const FIRST_RUN = `import stepscope

run = stepscope.init(project="first", config={"lr": 1e-3})
for step in range(100):
    run.log({"loss": 1 / (step + 1)})
run.finish()`;

export function EmptyStore() {
  const stores = info.value?.stores.map((store) => store.path) ?? [];
  return (
    <EmptyState title="No runs here yet" icon={LogoIcon}>
      <p>
        {stores.length ? (
          <>
            Stepscope watches <code class="isolate">{visibleText(stores.join(", "))}</code>. A run appears here the
            moment it starts.
          </>
        ) : (
          "A run appears here the moment it starts."
        )}
      </p>
      <Lessons>
        <Lesson title="Record a run" text={FIRST_RUN} />
        <Lesson title="Or run a script as it is" text="stepscope run train.py" />
        <Lesson title="Look around with example runs first" text="stepscope demo" />
        <Lesson title="Runs are in another folder?" text="stepscope ui path/to/stepscope-runs" />
      </Lessons>
    </EmptyState>
  );
}

export function NoMatch() {
  const total = table.value?.total ?? 0;
  return (
    <EmptyState title="No run matches" icon={SearchIcon}>
      {query.value ? (
        <p>
          <code class="isolate">{visibleText(query.value)}</code>
        </p>
      ) : null}
      {project.value ? (
        <p>
          In project <strong class="isolate">{visibleText(project.value)}</strong>.
        </p>
      ) : null}
      <p class="quiet">
        There {total === 1 ? "is" : "are"} {count(total, "run")} in all. A run without a field matches no comparison
        with it.
      </p>
      <div class="state-actions">
        {query.value ? <Button onClick={() => (query.value = "")}>Clear the query</Button> : null}
        {project.value ? <Button onClick={() => (project.value = "")}>All projects</Button> : null}
      </div>
    </EmptyState>
  );
}
