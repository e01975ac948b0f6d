import { expect, test } from "vitest";
import { changeWords, keptQuery, layoutQuery, ofPage } from "./view-query";

const QUERY = { q: "loss < 1", cols: "a,b", runs: "r1,r2", full: "loss", smooth: "ema:0.6", project: "vae", sort: "" };

test("a saved view keeps runs and query, and not what is enlarged", () => {
  expect(layoutQuery(QUERY)).toEqual({ q: "loss < 1", cols: "a,b", runs: "r1,r2", smooth: "ema:0.6" });
});

test("what is kept of itself never names runs", () => {
  expect(keptQuery(QUERY)).toEqual({ cols: "a,b", smooth: "ema:0.6" });
});

test("each page has its own part", () => {
  expect(ofPage("/runs", QUERY)).toEqual({ cols: "a,b" });
  expect(ofPage("/charts", QUERY)).toEqual({ smooth: "ema:0.6" });
  expect(ofPage("/profile", QUERY)).toEqual({});
});

test("says what changed", () => {
  expect(changeWords({ cols: "a" }, { cols: "a,b" })).toBe("columns");
  expect(changeWords({}, { cols: "a", sort: "b" })).toBe("layout");
});
