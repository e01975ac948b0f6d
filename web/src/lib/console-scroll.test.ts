import { expect, test } from "vitest";
import { LINE, MOST_PIXELS, readLines, scrollOf, scrollTopOf, sinceText, topLine, writeLines } from "./console-scroll";

test("a short list is one line per line and ends where it ends", () => {
  const scroll = scrollOf(100, 360);
  expect(scroll).toEqual({ space: 100 * LINE, pitch: LINE, lastTop: 80 });
  expect(topLine(scroll, 0)).toBe(0);
  expect(topLine(scroll, scroll.space - 360)).toBe(80);
  expect(scrollOf(5, 360)).toEqual({ space: 360, pitch: LINE, lastTop: 0 });
  expect(scrollOf(0, 360).space).toBe(360);
});

test("ten million lines fit into what a browser can scroll, and the last one is reached", () => {
  const scroll = scrollOf(10_000_000, 720);
  expect(scroll.space).toBeLessThanOrEqual(MOST_PIXELS);
  expect(topLine(scroll, scroll.space - 720)).toBeCloseTo(10_000_000 - 40, 3);
});

test("wrapped lines at the end: fewer fill the view", () => {
  expect(scrollOf(100, 360, 3).lastTop).toBe(97);
});

test("a line is scrolled to a third of the view, as far as there is room", () => {
  const scroll = scrollOf(1000, 360);
  expect(scrollTopOf(scroll, 0, 360)).toBe(0);
  expect(topLine(scroll, scrollTopOf(scroll, 500, 360))).toBeCloseTo(493.3, 1);
  expect(topLine(scroll, scrollTopOf(scroll, 999, 360))).toBe(980);
});

test("links to lines", () => {
  expect(readLines("12")).toEqual({ first: 12, last: 12 });
  expect(readLines("40-12")).toEqual({ first: 12, last: 40 });
  expect([readLines(""), readLines("x"), readLines("1-2-3"), readLines("-4")]).toEqual([null, null, null, null]);
  expect([writeLines(3, 3), writeLines(9, 3)]).toEqual(["3", "3-9"]);
});

test("time since the start", () => {
  expect([sinceText(104, 100), sinceText(851, 100), sinceText(11210, 100), sinceText(0, 100)]).toEqual([
    "+0:04",
    "+12:31",
    "+3:05:10",
    "+0:00",
  ]);
});
