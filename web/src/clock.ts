/** Unix seconds, moving on once a second while somebody looks. */

import { signal } from "@preact/signals";

export const now = signal(Date.now() / 1000);

setInterval(() => {
  if (!document.hidden) now.value = Date.now() / 1000;
}, 1000);
