/** The parameters in which the runs differ. */

import { lazily } from "../components/lazily";
import type { PanelKind, PanelProps } from "./panel";

const ConfigDiff = lazily(() => import("../views/compare/panels").then((chunk) => chunk.ConfigDiff));

const Panel = ({ runs }: PanelProps) => <ConfigDiff runs={runs.map((run) => run.id)} />;

export default {
  kind: "diff",
  title: "Differences in config",
  hint: "only the parameters that are not the same",
  needs: 2,
  fields: [],
  Panel,
} satisfies PanelKind;
