/** The profiles of one run: the Profile page, without its choice of runs. */

import { useEffect } from "preact/hooks";
import type { RunDetail } from "../../../lib/schema";
import { amend } from "../../../router";
import * as data from "../../profile/data";
import { Profile } from "../../profile/page";

export function ProfilePart({ run }: { run: RunDetail }) {
  const here = data.run.value === run.id;
  useEffect(() => {
    if (!here) amend({ of: run.id, profile: "", rank: "" });
  }, [here, run.id]);
  return here ? <Profile key={run.id} only={run.id} /> : null;
}
