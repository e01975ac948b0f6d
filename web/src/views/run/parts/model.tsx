/** The model of one run: the Model page, without its choice of runs. */

import { useEffect } from "preact/hooks";
import type { RunDetail } from "../../../lib/schema";
import { amend } from "../../../router";
import * as data from "../../model/data";
import { Model } from "../../model/page";

export function ModelPart({ run }: { run: RunDetail }) {
  const here = data.run.value === run.id;
  useEffect(() => {
    if (!here) amend({ of: run.id, recording: "" });
  }, [here, run.id]);
  return here ? <Model key={run.id} only={run.id} /> : null;
}
