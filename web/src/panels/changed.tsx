/** What changed between the run that works and the one that does not. */

import { lazily } from "../components/lazily";
import type { PanelKind, PanelProps } from "./panel";

const WhatChanged = lazily(() => import("../views/compare/panels").then((chunk) => chunk.WhatChanged));

const Panel = ({ runs }: PanelProps) => <WhatChanged runs={runs.map((run) => run.id)} />;

export default {
  kind: "changed",
  title: "What changed",
  hint: "config, code, packages and findings of two runs, the likeliest reason first",
  needs: 2,
  fields: [],
  Panel,
} satisfies PanelKind;
