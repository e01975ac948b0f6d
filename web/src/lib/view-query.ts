/** Which parts of an address are the layout of a page, and which only say where somebody stands at the moment. */

/** Not part of a layout: what is enlarged, which part of a run is open, a position. */
const PASSING: ReadonlySet<string> = new Set(["full", "part", "finding", "of", "project", "at", "step"]);
/** Which runs are looked at: part of a view that is saved by name, but not of a layout that is kept by itself. */
const RUNS: ReadonlySet<string> = new Set(["runs", "hide", "pinrun", "q", "base", "zoom"]);

export type Query = Readonly<Record<string, string>>;

/** What a saved view keeps of an address. */
export function layoutQuery(query: Query): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([key, value]) => value !== "" && !PASSING.has(key)));
}

/** What is kept of itself for the next time: columns, order, panels; never which runs. */
export function keptQuery(query: Query): Record<string, string> {
  return Object.fromEntries(Object.entries(layoutQuery(query)).filter(([key]) => !RUNS.has(key)));
}

/** The parts of an address that a page has to itself, by name; other pages keep theirs in the same address. */
const OF_PAGE: Readonly<Record<string, readonly string[]>> = {
  "/runs": ["cols", "pincols", "sort", "group", "archived"],
  "/charts": [
    "x",
    "smooth",
    "logx",
    "logy",
    "band",
    "clip",
    "old",
    "ranks",
    "wide",
    "size",
    "sections",
    "samey",
    "pins",
    "panels",
    "board",
  ],
};

export function pageKeys(path: string): readonly string[] {
  return OF_PAGE[path] ?? [];
}

/** The layout of one page out of an address that holds those of several. */
export function ofPage(path: string, query: Query): Record<string, string> {
  const own = new Set(pageKeys(path));
  return Object.fromEntries(Object.entries(keptQuery(query)).filter(([key]) => own.has(key)));
}

const WORDS: Readonly<Record<string, string>> = {
  cols: "columns",
  pincols: "pinned columns",
  sort: "order of the runs",
  group: "groups",
  archived: "archived runs",
  pins: "pinned panels",
  panels: "settings of a panel",
  board: "the workspace",
  sections: "open sections",
  smooth: "smoothing",
  x: "x-axis",
  wide: "panels in a row",
  size: "size of the panels",
};

/** What changed between two layouts, in words. */
export function changeWords(before: Query, after: Query): string {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => before[key] !== after[key],
  );
  return keys.length === 1 ? (WORDS[keys[0] as string] ?? "chart settings") : "layout";
}
