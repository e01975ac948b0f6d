import { expect, test } from "vitest";
import { moduleTree, openAtFirst, seenRows, wayToPath } from "./module-rows";
import type { ModuleRow } from "./schema";

const row = (path: string, level: number, params: number | null = null): ModuleRow => ({
  path,
  label: path.split(".").pop() ?? "",
  level,
  params,
});
const ROWS = [row("", 0, 30), row("a", 1, 5), row("a.x", 2, 2), row("a.y", 2, 3), row("b", 1, 25), row("c", 1)];
const paths = (open: number[], by: "module" | "params", down: boolean) =>
  seenRows(moduleTree(ROWS), new Set(open), { by, down }).map((node) => node.row.path);

test("rows become a tree by their levels", () => {
  const [root] = moduleTree(ROWS);
  expect(root?.children.map((node) => node.row.path)).toEqual(["a", "b", "c"]);
  expect(root?.children[0]?.children.map((node) => node.row.path)).toEqual(["a.x", "a.y"]);
});

test("only open rows show what is in them", () => {
  expect(paths([], "module", false)).toEqual([""]);
  expect(paths([0], "module", false)).toEqual(["", "a", "b", "c"]);
  expect(paths([0, 1], "module", false)).toEqual(["", "a", "a.x", "a.y", "b", "c"]);
});

test("sorting moves modules among their neighbours; what is not known comes last", () => {
  expect(paths([0, 1], "params", true)).toEqual(["", "b", "a", "a.y", "a.x", "c"]);
  expect(paths([0, 1], "params", false)).toEqual(["", "a", "a.x", "a.y", "b", "c"]);
});

test("whole levels are open at first, as many as fit", () => {
  expect(openAtFirst(moduleTree(ROWS), 6)).toEqual(new Set([0, 1]));
  expect(openAtFirst(moduleTree(ROWS), 4)).toEqual(new Set([0]));
  expect(openAtFirst([])).toEqual(new Set());
});

test("the way to a module goes through all that hold it", () => {
  expect(wayToPath(moduleTree(ROWS), "a.y").map((node) => node.row.path)).toEqual(["", "a", "a.y"]);
  expect(wayToPath(moduleTree(ROWS), "nowhere")).toEqual([]);
});
