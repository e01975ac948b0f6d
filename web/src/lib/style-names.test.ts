/** Style sheets come with the pages that use them and stay: a name that two of them give a look depends on the way one came. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "../style");
/** Loaded first and by all; the others may add to what they say. */
const SHARED = new Set(["tokens.css", "base.css", "components.css", "parts.css"]);
/** A file of its own, which never meets the app's pages. */
const ALONE = new Set(["standalone.css", "report-file.css", "report-print.css"]);

test("no class is given its look by two pages", () => {
  const owners = new Map<string, Set<string>>();
  for (const file of readdirSync(FOLDER).filter((name) => !SHARED.has(name) && !ALONE.has(name))) {
    const text = readFileSync(join(FOLDER, file), "utf8").replace(/\/\*.*?\*\//gs, "");
    for (const [, selectors] of text.matchAll(/(?:^|\n)([^\s@}][^{}]*)\{/g))
      for (const one of (selectors ?? "").split(",")) {
        const name = /^\.[\w-]+$/.exec(one.trim())?.[0];
        if (name) owners.set(name, (owners.get(name) ?? new Set()).add(file));
      }
  }
  expect([...owners].filter(([, files]) => files.size > 1).map(([name, files]) => [name, ...files])).toEqual([]);
});
