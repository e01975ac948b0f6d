/** The pictures, sounds, texts and tables of one run. */

import type { RunDetail } from "../../../lib/schema";
import { MediaBoard } from "../../media/board";

export function MediaPart({ run }: { run: RunDetail }) {
  return <MediaBoard runs={[run.id]} />;
}
