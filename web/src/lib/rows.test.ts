import { describe, expect, test } from "vitest";
import { layoutOf, missingPages, rangeBetween, scrollToShow, visibleSpan } from "./rows";

describe("the visible span", () => {
  test("holds what is on the screen, some to spare, and never more than there is", () => {
    expect(visibleSpan(0, 320, 32, 10_000)).toEqual({ start: 0, end: 20 });
    expect(visibleSpan(32 * 1000, 320, 32, 10_000)).toEqual({ start: 990, end: 1020 });
    expect(visibleSpan(32 * 9995, 320, 32, 10_000)).toEqual({ start: 9985, end: 10_000 });
    expect(visibleSpan(0, 320, 32, 3)).toEqual({ start: 0, end: 3 });
    expect(visibleSpan(-50, 320, 32, 0)).toEqual({ start: 0, end: 0 });
  });

  test("does not change for a scroll of a few pixels", () => {
    expect(visibleSpan(32_003, 320, 32, 10_000)).toEqual(visibleSpan(32_020, 320, 32, 10_000));
  });
});

test("scrolls only as far as needed", () => {
  expect([scrollToShow(0, 100, 320, 32), scrollToShow(5, 100, 320, 32), scrollToShow(20, 0, 320, 32)]).toEqual([
    0, 100, 352,
  ]);
});

describe("groups", () => {
  const groups = [
    { value: "adam", count: 2, ids: ["a", "b"], means: [] },
    { value: null, count: 1, ids: ["c"], means: [] },
  ];

  test("are headings followed by their runs", () => {
    const layout = layoutOf(["a", "c", "b"], groups, new Set());
    expect(layout.count).toBe(5);
    expect(layout.at(2)).toEqual({ kind: "run", position: 2, id: "b" });
    expect(layout.indexOf("c")).toBe(4);
  });

  test("keep only the heading when shut", () => {
    const layout = layoutOf(["a", "c", "b"], groups, new Set(['"adam"']));
    expect([layout.count, layout.at(0)?.kind, layout.at(1)?.kind, layout.indexOf("a")]).toEqual([
      3,
      "group",
      "group",
      -1,
    ]);
  });
});

test("only pages with missing rows are fetched", () => {
  expect(missingPages([0, 1, 199, 200, 450], (position) => position < 100, 200)).toEqual([0, 1, 2]);
});

test("a range is in table order, whichever end was clicked first", () => {
  const order = ["a", "b", "c", "d"];
  expect(rangeBetween(order, "c", "a")).toEqual(["a", "b", "c"]);
  expect(rangeBetween(order, null, "b")).toEqual(["b"]);
  expect(rangeBetween(order, "gone", "b")).toEqual(["b"]);
});
