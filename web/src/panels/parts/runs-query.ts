/** How panels ask for their runs, and how a column is headed. */

import { visibleText } from "../../lib/format";

/** A query for exactly these runs. Files that were shared look answers up by it: change it on both sides or on none. */
export const idQuery = (runs: readonly { id: string }[]): string => `id in (${runs.map((run) => JSON.stringify(run.id)).join(", ")})`;

/** `config.lr` -> `lr`, `val/loss.min` -> `val/loss min`. */
export function columnLabel(key: string): string {
  if (key.startsWith("config.")) return visibleText(key.slice(7));
  const found = /^(.+)\.(last|min|max|mean|first|best)$/.exec(key);
  return visibleText(found ? (found[2] === "last" ? (found[1] as string) : `${found[1]} ${found[2]}`) : key);
}
