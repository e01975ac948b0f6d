/** Runs that share a name get a mark that tells them apart: the end of their id. */

import { computed } from "@preact/signals";
import { sharedNames } from "./lib/shared-names";
import { nameText } from "./lib/format";
import { known, nameOf } from "./state";

const shared = computed(() => sharedNames([...known.value.values()]));

/** `k3q9` for a run whose name another run that is known has too, else "". */
export function twinMark(id: string): string {
  const row = known.value.get(id);
  return row && shared.value.has(row.name) ? id.slice(-4).toLowerCase() : "";
}

/** A run's name as it can be shown, whatever is in it, and apart from others of the same name. */
export function runName(id: string, name = nameOf(id)): string {
  const mark = twinMark(id);
  return mark ? `${nameText(name)} · ${mark}` : nameText(name);
}
