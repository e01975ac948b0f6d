/** The histograms of one run. */

import type { RunDetail } from "../../../lib/schema";
import { DistributionBoard } from "../../distributions/board";

export function DistributionsPart({ run }: { run: RunDetail }) {
  return <DistributionBoard runs={[run.id]} />;
}
