import { describe, expect, it } from "vitest";
import { cloudOf, colouringOf, FRONT, matching, onScreen, pointAt, pointsIn } from "./projector";

const cloud = cloudOf([0, 10, 0, 10], [0, 0, 10, 10], []);

describe("a cloud of points", () => {
  it("stands in the middle of the screen, y upwards", () => {
    const screen = onScreen(cloud, FRONT, 400, 400);
    expect(screen.x[0]).toBeCloseTo(400 - (screen.x[1] as number), 3);
    expect(screen.y[0] as number).toBeGreaterThan(screen.y[2] as number);
    expect(Math.max(...screen.x)).toBeLessThan(420);
  });

  it("turns: a quarter around the upright axis brings depth to the side", () => {
    const deep = cloudOf([0, 0], [0, 0], [-1, 1]);
    const front = onScreen(deep, FRONT, 100, 100);
    expect(front.x[0]).toBeCloseTo(front.x[1] as number, 4);
    const side = onScreen(deep, { ...FRONT, yaw: Math.PI / 2 }, 100, 100);
    expect(Math.abs((side.x[0] as number) - (side.x[1] as number))).toBeCloseTo(104, 0);
  });

  it("finds the point under the pointer, and those in a rectangle", () => {
    const screen = onScreen(cloud, FRONT, 400, 400);
    expect(pointAt(screen, (screen.x[3] as number) + 3, screen.y[3] as number, 10)).toBe(3);
    expect(pointAt(screen, 200, 200, 10)).toBe(-1);
    expect(pointsIn(screen, 0, 0, 200, 400)).toEqual([0, 2]);
  });

  it("takes points that are all in one place", () => {
    expect([...cloudOf([1, 1], [2, 2], [3, 3])]).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

describe("colours by what is known", () => {
  it("are classes for few different values, in their natural order", () => {
    const found = colouringOf(["10", "2", "2"], 3, false, "#000");
    expect(found.classes.map(({ name, count }) => [name, count])).toEqual([
      ["2", 2],
      ["10", 1],
    ]);
    expect(found.colours[1]).toBe(found.colours[2]);
  });

  it("are a scale for many numbers, grey where there is none", () => {
    const values = [...Array.from({ length: 60 }, (_, i) => i), null];
    const found = colouringOf(values, 61, false, "#000");
    expect(found.range).toEqual([0, 59]);
    expect([found.colours[0], found.colours[60]]).toEqual(["rgb(68,1,84)", "#8a8c95"]);
  });

  it("are used again with another shape after ten classes; far too many classes have none, and it is said", () => {
    const names = Array.from({ length: 12 }, (_, i) => `class ${i}`);
    const found = colouringOf(names, 12, false, "#000");
    expect([found.colours[10], found.shapes[0], found.shapes[10]]).toEqual([found.colours[0], "circle", "square"]);
    expect(colouringOf(names.slice(0, 10), 10, false, "#000").shapes).toEqual([]);
    const many = colouringOf(
      Array.from({ length: 200 }, (_, i) => `file ${i}`),
      200,
      false,
      "#000",
    );
    expect([new Set(many.colours), many.tooMany]).toEqual([new Set(["#000"]), 200]);
  });

  it("find words in any column", () => {
    const columns = [{ values: ["cat", "dog"] }, { values: [1, 2] }];
    expect([...(matching(columns, "DO") ?? [])]).toEqual([1]);
    expect(matching(columns, " ")).toBeNull();
  });
});
