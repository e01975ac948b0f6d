/** Style sheets come with the pages that use them and stay: a name that two of them give a look depends on the way one came. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "../style");
/** Loaded first and by all; the others may add to what they say. */
const SHARED = new Set(["tokens.css", "base.css", "components.css", "parts.css"]);
/** A file of its own, which never meets the app's pages. */
const ALONE = new Set(["standalone.css", "report-file.css", "report-print.css"]);

const sheets = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), "utf8").replace(/\/\*.*?\*\//gs, ""));

/** Everything that may put a class on an element, or an attribute, or use a variable. */
const sources = [join(FOLDER, ".."), join(FOLDER, "../../viewer")]
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)))
  .filter((name) => /(?<!\.test)\.(ts|tsx|html)$/.test(name))
  .map((name) => readFileSync(name, "utf8"))
  .join("\n");

const namesIn = (pattern: RegExp): string[] => [
  ...new Set(sheets.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name as string))),
];

/** `button-${kind}` and `var(--ansi-${n})` make a whole family. */
const isMade = (name: string): boolean => sources.includes(`${name.slice(0, name.lastIndexOf("-") + 1)}\${`);

test("every class that has a look is used by a component", () => {
  const words = new Set(sources.split(/[^\w-]+/));
  const unused = namesIn(/\.(-?[A-Za-z_][\w-]*)(?=[^{}]*\{)/g).filter((name) => !words.has(name) && !isMade(name));
  expect(unused).toEqual([]);
});

test("every attribute and variable that a look depends on is set somewhere", () => {
  const given = `${sources}${sources.replace(/dataset\.(\w+)/g, (_, name: string) => `data-${name}`)}`;
  const attributes = namesIn(/\[((?:data|aria)-[\w-]+)/g).filter((name) => !given.includes(name));
  const variables = namesIn(/(--[\w-]+)\s*:/g)
    .filter((name) => ![...sheets, sources].some((text) => text.includes(`var(${name}`)))
    .filter((name) => !isMade(name) && !sources.includes(`"${name}"`));
  expect({ attributes, variables }).toEqual({ attributes: [], variables: [] });
});

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

test("what is aligned like a row or a grid is one", () => {
  const rules = sheets.flatMap((text) =>
    [...text.matchAll(/([^{}]+)\{([^{}]*)\}/g)].flatMap(([, selectors, body]) =>
      (selectors ?? "").split(",").map((one) => ({ name: /\.([\w-]+)[^\s.>~+]*$/.exec(one.trim())?.[1], one, body })),
    ),
  );
  const laidOut = new Set(
    rules
      .filter(({ body }) => /display:\s*(inline-)?(flex|grid)|(^|\s)columns:/.test(body ?? ""))
      .map(({ name }) => name),
  );
  const shared = readFileSync(join(FOLDER, "parts.css"), "utf8");
  // A gap or an alignment without a row, a column or a grid does nothing. Shared parts are combined with tags too.
  const aligned = rules
    .filter(
      ({ name, one, body }) => one.trim() === `.${name}` && /(^|\s)(gap|justify-content|align-items):/.test(body ?? ""),
    )
    .flatMap(({ name }) => (name && !laidOut.has(name) && !shared.includes(`.${name} {`) ? [name] : []));
  const lists = [...sources.matchAll(/class(?:Name)?=(?:"([^"]*)"|\{`([^`]*)`\})/g)].map(([, a, b]) => a ?? b ?? "");
  const lost = [...new Set(aligned)].filter((name) =>
    lists.some((list) => {
      const names = list.split(/\s+/);
      return names.includes(name) && !names.some((other) => laidOut.has(other));
    }),
  );
  expect(lost).toEqual([]);
});
