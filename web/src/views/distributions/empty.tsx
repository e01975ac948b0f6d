/** No histogram was logged: how to log some. */

import { EmptyState, Lesson, Lessons } from "../../components";
import { ChartIcon } from "../../components/icons";
import { count } from "../../lib/format";

const WATCH = `import stepscope

run = stepscope.init(project="vae")
# activations and gradients of every layer
stepscope.watch_layers(model, every=100)`;

const OWN = `for name, weight in model.named_parameters():
    run.log({f"weights/{name}": stepscope.Histogram(weight)})`;

export function NoHistograms({ runs }: { runs: readonly string[] }) {
  return (
    <EmptyState title={runs.length === 0 ? "No run is selected" : "No histograms here"} icon={ChartIcon}>
      {runs.length === 0 ? (
        <p>
          Select runs on <a href="#/runs">Runs</a>.
        </p>
      ) : (
        <p>
          {runs.length === 1 ? "This run" : `None of these ${count(runs.length, "run")}`} logged the distribution of
          anything.
        </p>
      )}
      <Lessons>
        <Lesson title="Watch every layer" text={WATCH} />
        <Lesson title="Or log what you like" text={OWN} />
      </Lessons>
    </EmptyState>
  );
}
