/** The model of the first run as it was recorded: its graph, or the table of its modules. */

import { lazily } from "../components/lazily";
import { numberOf, type PanelKind, type PanelProps, textOf } from "./panel";

const ModelFigure = lazily(() => import("./parts/model-figure").then((chunk) => chunk.ModelFigure));

function Panel({ options, runs }: PanelProps) {
  const [run] = runs;
  if (!run) return null;
  return (
    <ModelFigure
      run={run.id}
      recording={textOf(options, "key") || null}
      step={numberOf(options, "step")}
      backward={options.backward === true}
      table={textOf(options, "view") === "table"}
      height={numberOf(options, "height")}
    />
  );
}

export default {
  kind: "graph",
  title: "Model",
  hint: "the graph of the recorded step, or its modules as a table",
  needs: 1,
  fields: [
    {
      name: "view",
      label: "As",
      type: "choice",
      choices: [
        { value: "", label: "Graph" },
        { value: "table", label: "Table of modules" },
      ],
    },
    { name: "backward", label: "With the backward pass", type: "flag" },
    { name: "step", label: "At step", type: "number", hint: "the newest recording if empty" },
  ],
  Panel,
} satisfies PanelKind;
