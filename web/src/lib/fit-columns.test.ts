import { expect, test } from "vitest";
import { fitColumns, type Wanted } from "./fit-columns";

const columns: Wanted[] = [
  { key: "name", want: 200, least: 100 },
  { key: "lr", want: 80, least: 60, optional: true },
  { key: "seed", want: 80, least: 60, optional: true },
  { key: "tags", want: 140, least: 80 },
];

test("columns are as wide as they like where there is room", () => {
  expect(Object.fromEntries(fitColumns(columns, 900))).toEqual({ name: 200, lr: 80, seed: 80, tags: 140 });
});

test("all give way alike where there is less", () => {
  const fitted = fitColumns(columns, 400);
  expect([...fitted.values()].reduce((a, b) => a + b)).toBeLessThanOrEqual(400);
  expect(Object.fromEntries(fitted)).toEqual({ name: 150, lr: 70, seed: 70, tags: 110 });
});

test("the last of the optional columns goes first, the others never", () => {
  expect([...fitColumns(columns, 250).keys()]).toEqual(["name", "lr", "tags"]);
  expect(Object.fromEntries(fitColumns(columns, 10))).toEqual({ name: 100, tags: 80 });
});
