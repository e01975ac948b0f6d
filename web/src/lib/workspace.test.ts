import { describe, expect, test } from "vitest";
import {
  addPanel,
  addSection,
  changePanel,
  columnsFor,
  copyPanel,
  EMPTY,
  foldSection,
  hideAutomatic,
  movePanel,
  moveSection,
  nudgePanel,
  panelNamed,
  pinPanel,
  removePanel,
  removeSection,
  renameSection,
  resizePanel,
  showAutomatic,
  sizeAutomatic,
  type Workspace,
  workspaceCodec,
} from "./workspace";

const metric = (key: string) => ({ kind: "metric", options: { key } });
/** The keys of every section, as `a b | c`. */
const shape = (space: Workspace): string =>
  space.sections.map((section) => section.panels.map((panel) => panel.options.key).join(" ")).join(" | ");
const idOf = (space: Workspace, key: string): string =>
  space.sections.flatMap((s) => s.panels).find((p) => p.options.key === key)?.id ?? "";

/** Two sections: a b c | d. */
function filled(): Workspace {
  let space = addSection(EMPTY, "One");
  for (const key of ["a", "b", "c"]) space = addPanel(space, metric(key));
  return addPanel(addSection(space, "Two"), metric("d"));
}

describe("panels", () => {
  test("the first panel makes its section", () => {
    const space = addPanel(EMPTY, metric("a"));
    expect(space.sections.map((section) => section.name)).toEqual(["My panels"]);
    expect(shape(space)).toBe("a");
  });

  test.each([
    ["a", "One", "c", "b a c | d"],
    ["a", "One", null, "b c a | d"],
    ["c", "One", "a", "c a b | d"],
    ["b", "Two", "d", "a c | b d"],
    ["b", "Two", null, "a c | d b"],
    ["a", "One", "a", "a b c | d"],
    ["a", "gone", null, "a b c | d"],
  ])("%s moves into %s before %s", (key, section, before, wanted) => {
    const space = filled();
    const home = space.sections.find((one) => one.name === section)?.id ?? "?";
    expect(shape(movePanel(space, idOf(space, key), { section: home, before: before && idOf(space, before) }))).toBe(
      wanted,
    );
  });

  test.each([
    ["a", "left", "a b c | d"],
    ["a", "right", "b a c | d"],
    ["c", "right", "a b c | d"],
    ["c", "left", "a c b | d"],
    ["a", "down", "b c | d a"],
    ["a", "up", "a b c | d"],
    ["d", "up", "a b c d | "],
  ] as const)("%s goes %s by the keyboard", (key, way, wanted) => {
    const space = filled();
    expect(shape(nudgePanel(space, idOf(space, key), way))).toBe(wanted);
  });

  test("removed, copied, changed, pinned", () => {
    const space = filled();
    expect(shape(removePanel(space, idOf(space, "b")))).toBe("a c | d");
    const copied = copyPanel(space, idOf(space, "a"));
    expect(shape(copied)).toBe("a a b c | d");
    expect(new Set(copied.sections.flatMap((s) => s.panels).map((p) => p.id)).size).toBe(5);
    expect(panelNamed(changePanel(space, idOf(space, "a"), "note", { text: "x" }), idOf(space, "a"))).toMatchObject({
      kind: "note",
      options: { text: "x" },
    });
    const pinned = pinPanel(space, idOf(space, "a"));
    expect(panelNamed(pinned, idOf(space, "a"))?.pinned).toBe(true);
    expect(pinPanel(pinned, idOf(space, "a"))).toEqual(space);
  });

  test("sizes stay within what can be drawn", () => {
    const space = filled();
    const id = idOf(space, "a");
    expect(panelNamed(resizePanel(space, id, { w: 99, h: 333 }), id)).toMatchObject({ w: 6, h: 340 });
    expect(panelNamed(resizePanel(space, id, { w: -1, h: 1 }), id)).toMatchObject({ w: 1, h: 120 });
    expect(sizeAutomatic(sizeAutomatic(space, "loss", { w: 2 }), "loss", { h: 200 }).sizes).toEqual({
      loss: { w: 2, h: 200 },
    });
    expect(showAutomatic(hideAutomatic(hideAutomatic(space, "x"), "x"))).toEqual(space);
    expect(hideAutomatic(hideAutomatic(space, "x"), "x").gone).toEqual(["x"]);
  });
});

describe("sections", () => {
  test("added, renamed, moved, folded, removed", () => {
    const space = filled();
    const [one, two] = space.sections.map((section) => section.id) as [string, string];
    expect(moveSection(space, two, -1).sections.map((s) => s.name)).toEqual(["Two", "One"]);
    expect(moveSection(space, one, -1)).toBe(space);
    expect(renameSection(space, one, "Best").sections[0]?.name).toBe("Best");
    expect(foldSection(foldSection(space, one), one)).toEqual(space);
    expect(shape(removeSection(space, one))).toBe("d");
    expect(addSection(space, "First", one).sections.map((s) => s.name)).toEqual(["First", "One", "Two"]);
  });
});

test.each([
  [[1], 5, 1],
  [[1, 1], 5, 2],
  [[1, 1, 1, 1], 3, 2],
  [[1, 1, 1, 1, 1], 4, 3],
  [[1, 1, 1, 1, 1, 1], 4, 3],
  [[2, 1], 3, 3],
  [[3, 1, 1], 3, 3],
  [Array<number>(13).fill(1), 5, 5],
  [[1, 1, 1], 1, 1],
  [[], 4, 1],
])("panels of %j in at most %i columns have %i", (spans, most, wanted) => {
  expect(columnsFor(spans, most)).toBe(wanted);
});

describe("in the address", () => {
  test("written and read back; nothing is written for nothing", () => {
    const space = hideAutomatic(sizeAutomatic(filled(), "loss", { w: 2 }), "lr");
    expect(workspaceCodec.read(workspaceCodec.write(space))).toEqual(space);
    expect(workspaceCodec.write(EMPTY)).toBe("");
  });

  test.each([
    "no json",
    "[]",
    '{"sections":3}',
    '{"sections":[{"id":"a","name":"x","panels":[{"id":"b"}]}]}',
    '{"sections":[{"id":"a","name":"x","panels":[{"id":"b","kind":"note","options":[]}]}]}',
    '{"sections":[{"id":"a","name":"x","panels":[{"id":"a","kind":"note","options":{}}]}]}',
    '{"sections":[],"sizes":{"loss":3}}',
    '{"sections":[],"gone":[1]}',
  ])("%s is not a workspace", (text) => {
    expect(workspaceCodec.read(text)).toBeUndefined();
  });
});
