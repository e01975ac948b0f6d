/** Functions that a search means, and how much of the time is theirs. */

import type { Tree } from "./icicle-tree";
import { findNames } from "./timeline-find";

export interface FrameSearch {
  lit: Uint8Array;
  names: number;
  /** Time in these functions and what they call, counted once. */
  total: number;
  error: string | null;
}

/** Words that occur in the function's name or its file, or `/pattern/`. */
export function findFrames(tree: Tree, text: string): FrameSearch | null {
  if (text.trim() === "") return null;
  const { names, files } = tree.stack;
  const found = findNames(
    names.map((name, at) => `${name} ${files[at] ?? ""}`),
    text,
  );
  const lit = new Uint8Array(names.length);
  for (const name of found.names) lit[name] = 1;
  let total = 0;
  const held = new Uint8Array(tree.parent.length);
  for (let node = 0; node < held.length; node++) {
    const above = tree.parent[node] as number;
    const around = above >= 0 && held[above] === 1;
    const is = lit[tree.name[node] as number] === 1;
    held[node] = around || is ? 1 : 0;
    if (is && !around) total += tree.total[node] as number;
  }
  return { lit, names: found.names.length, total, error: found.error };
}
