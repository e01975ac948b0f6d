import { expect, test } from "vitest";
import { isNumeric, readCsv, tidyJson } from "./csv-rows";

test("rows, quotes, line breaks inside quotes, and other separators", () => {
  expect(readCsv('a,b\n1,"x, ""y"""\r\n2,"two\nlines"\n')).toEqual({
    head: ["a", "b"],
    rows: [
      ["1", 'x, "y"'],
      ["2", "two\nlines"],
    ],
    more: 0,
  });
  expect(readCsv("a\tb\n1\t2")).toEqual({ head: ["a", "b"], rows: [["1", "2"]], more: 0 });
  expect(readCsv("a;b\n1,5;2").rows).toEqual([["1,5", "2"]]);
  expect(readCsv("")).toEqual({ head: [], rows: [], more: 0 });
  expect(readCsv('a\n"never closed').rows).toEqual([["never closed"]]);
});

test("only so many rows are kept, the rest is counted", () => {
  const found = readCsv(`n\n${Array.from({ length: 30 }, (_, n) => n).join("\n")}`, 10);
  expect([found.rows.length, found.more]).toEqual([10, 20]);
});

test("columns of numbers", () => {
  const { rows } = readCsv("a,b\n1,x\n,2\n3e-4,");
  expect([isNumeric(rows, 0), isNumeric(rows, 1), isNumeric(rows, 7)]).toEqual([true, false, false]);
});

test("JSON is laid out only where it is on one line and whole", () => {
  expect(tidyJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(tidyJson('{"a":\n 1}')).toBe('{"a":\n 1}');
  expect(tidyJson('{"a":')).toBe('{"a":');
});
