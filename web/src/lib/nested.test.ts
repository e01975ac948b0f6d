import { expect, test } from "vitest";
import { foldersOf, searchFolders } from "./nested";

test("a flat config becomes folders, the top first", () => {
  const folders = foldersOf({
    "optimizer/lr": 0.1,
    seed: 1,
    "optimizer/adam/eps": 1e-8,
    "optimizer/momentum": 0.9,
    "/odd": 1,
    "odd/": 2,
  });
  expect(folders.map(({ name, entries }) => [name, entries.map((entry) => entry.name)])).toEqual([
    ["", ["seed", "/odd", "odd/"]],
    ["optimizer", ["lr", "momentum"]],
    ["optimizer/adam", ["eps"]],
  ]);
  expect(foldersOf({})).toEqual([]);
});

test("words are looked for in keys and values", () => {
  const folders = foldersOf({ "optimizer/lr": 0.1, seed: 17, name: "Adam" });
  const found = (words: string) =>
    searchFolders(folders, words, String).flatMap(({ entries }) => entries.map(({ key }) => key));
  expect([found("OPT"), found("17"), found("adam"), found("none"), found(" ")]).toEqual([
    ["optimizer/lr"],
    ["seed"],
    ["name"],
    [],
    ["seed", "name", "optimizer/lr"],
  ]);
});
