import { expect, test } from "vitest";
import { isGroup, lineGroups, withGroups } from "./chart-groups";

const columns = [
  { id: "[0.1]", label: "lr 0.1", runs: ["a", "b"], values: [0.1] },
  { id: "[null]", label: "lr not set", runs: ["c"], values: [null] },
];

test("a group has an id that no run has, and another one when its runs change", () => {
  const [first, second] = lineGroups(columns);
  expect(isGroup(first?.id ?? "") && !isGroup("a")).toBe(true);
  expect(second?.label).toBe("lr not set");
  const [changed] = lineGroups([{ ...columns[0], runs: ["a", "b", "d"] } as (typeof columns)[0]]);
  expect(changed?.id).not.toBe(first?.id);
  expect(changed?.slot).toBe(first?.slot);
});

test("groups never share a colour while there are enough", () => {
  const many = Array.from({ length: 12 }, (_, at) => ({ id: `[${at}]`, label: "", runs: [String(at)], values: [at] }));
  expect(new Set(lineGroups(many).map((group) => group.slot)).size).toBe(12);
});

test("a run that changed makes its group change", () => {
  const groups = lineGroups(columns);
  expect(withGroups(["b", "x"], groups)).toEqual(["b", "x", groups[0]?.id]);
});
