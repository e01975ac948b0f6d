/** Nothing to draw: why, and what to do. */

import { Button, EmptyState, Lesson, Lessons } from "../../components";
import { ChartIcon, SearchIcon } from "../../components/icons";
import { visibleText } from "../../lib/format";
import type { ParamTable } from "../../lib/param-table";
import { project } from "../../state";
import { EmptyStore } from "../runs/empty";
import { query } from "../runs/settings";
import * as data from "./data";

const CONFIG = `run = stepscope.init(project="vae", config={"lr": 1e-3, "depth": 4})`;

export function NothingHere({ table }: { table: ParamTable }) {
  if (table.size === 0 && query.value === "" && project.value === "" && data.whose.value === "all")
    return <EmptyStore />;
  if (table.size === 0) return <NoRuns />;
  return (
    <EmptyState title="These runs do not differ" icon={ChartIcon}>
      <p>
        {table.size === 1 ? "There is only one run" : `All ${table.size} runs have the same config`}
        {table.unique.length ? ", apart from text that is different in every run" : ""}. Parameters are drawn when runs
        were set to different values.
      </p>
      <Lessons>
        <Lesson title="Record the config of a run" text={CONFIG} />
      </Lessons>
    </EmptyState>
  );
}

function NoRuns() {
  return (
    <EmptyState title="No run matches" icon={SearchIcon}>
      {query.value ? (
        <p>
          <code class="isolate">{visibleText(query.value)}</code>
        </p>
      ) : null}
      <div class="state-actions">
        {query.value ? <Button onClick={() => (query.value = "")}>Clear the query</Button> : null}
        {data.whose.value === "chosen" ? (
          <Button onClick={() => (data.whose.value = "all")}>All runs instead of the selected ones</Button>
        ) : null}
        {project.value ? <Button onClick={() => (project.value = "")}>All projects</Button> : null}
      </div>
    </EmptyState>
  );
}
