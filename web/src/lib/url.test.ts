import { describe, expect, test } from "vitest";
import { flag, formatHash, json, list, matchPath, number, oneOf, parseHash } from "./url";

test("an address goes out and comes back the same", () => {
  const place = {
    path: "/runs",
    query: { q: 'config.lr < 0.01 and name ~ "a&b=c#d"', cols: "loss.min,val/acc.max", e: "100%+é 🚀" },
  };
  expect(parseHash(formatHash(place))).toEqual(place);
});

test("addresses stay readable and leave out what is empty", () => {
  expect(formatHash({ path: "/runs", query: { q: "lr < 1", group: "", cols: "a/b,c" } })).toBe(
    "#/runs?q=lr+%3C+1&cols=a/b,c",
  );
});

test("an empty or strange address is the first page", () => {
  expect(parseHash("")).toEqual({ path: "/", query: {} });
  expect(parseHash("#runs")).toEqual({ path: "/runs", query: {} });
});

describe("lists", () => {
  test.each([[[]], [["a"]], [["a", "b"]], [["a,b", "c\\d"]], [[""]], [["", "a", ""]], [["\\", ",", "x,"]]])(
    "%j survives",
    (items) => {
      expect(list.read(list.write(items))).toEqual(items);
    },
  );
});

test("what cannot be understood is refused, so the default is used", () => {
  expect(number.read("1e3")).toBe(1000);
  expect(number.read("x")).toBeUndefined();
  expect(number.read(" ")).toBeUndefined();
  expect(flag.read("yes")).toBeUndefined();
  expect(oneOf("a", "b").read("c")).toBeUndefined();
  const pair = json((value): value is number[] => Array.isArray(value));
  expect([pair.read("[1,2]"), pair.read("{}"), pair.read("{")]).toEqual([[1, 2], undefined, undefined]);
});

test("paths are matched by their parts", () => {
  expect(matchPath("/run/:id", "/run/01AB%20C")).toEqual({ id: "01AB C" });
  expect(matchPath("/run/:id", "/run/%zz")).toEqual({ id: "%zz" });
  expect(matchPath("/run/:id", "/runs")).toBeNull();
  expect(matchPath("/runs", "/runs/")).toEqual({});
});
