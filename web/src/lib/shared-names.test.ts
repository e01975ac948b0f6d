import { expect, test } from "vitest";
import { sharedNames } from "./shared-names";

test("only names that more than one run has", () => {
  expect([...sharedNames([{ name: "a" }, { name: "b" }, { name: "a" }, { name: "a" }])]).toEqual(["a"]);
  expect([...sharedNames([])]).toEqual([]);
});
