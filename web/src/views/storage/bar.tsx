/** One bar of what takes the room, by kind; the longest project fills the width. */

import { formatBytes } from "../../lib/format";
import type { ProjectStorage } from "../../lib/schema";
import { PARTS, type Part } from "../../lib/storage";

export function StorageBar({ sizes, most }: { sizes: Pick<ProjectStorage, Part>; most: number }) {
  const parts = PARTS.filter((part) => sizes[part] > 0);
  const words = parts.map((part) => `${part} ${formatBytes(sizes[part])}`).join(", ");
  return (
    <span class="storage-bar" role="img" aria-label={words || "empty"} title={words}>
      {parts.map((part) => (
        <span key={part} data-part={part} style={{ width: `${(100 * sizes[part]) / Math.max(1, most)}%` }} />
      ))}
    </span>
  );
}

export function Legend() {
  return (
    <p class="storage-legend quiet">
      {PARTS.map((part) => (
        <span key={part}>
          <span class="storage-key" data-part={part} /> {part}
        </span>
      ))}
    </p>
  );
}
