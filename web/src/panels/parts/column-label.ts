/** How a column is headed. */

import { visibleText } from "../../lib/format";

/** `config.lr` -> `lr`, `val/loss.min` -> `val/loss min`. */
export function columnLabel(key: string): string {
  if (key.startsWith("config.")) return visibleText(key.slice(7));
  const found = /^(.+)\.(last|min|max|mean|first|best)$/.exec(key);
  return visibleText(found ? (found[2] === "last" ? (found[1] as string) : `${found[1]} ${found[2]}`) : key);
}
