import { describe, expect, it } from "vitest";
import { cpuMs } from "./cpu-fixtures";
import { columnWidths, filterOf, isPicture, rowsOf } from "./table-rows";

const table = {
  columns: ["file", "true class", "score", "right"],
  rows: [
    ["b.png", "cat", 0.9, true],
    ["a.png", "dog", 0.2, false],
    ["c.png", "cat", "NaN", false],
    ["d.png", null, 0.5, true],
  ],
};
const shown = (search: string, sort: { column: number; down: boolean } | null = null) => [
  ...rowsOf(table, search, sort),
];

describe("searching a table", () => {
  it("finds words in any cell, whatever their case", () => {
    expect(shown("CAT")).toEqual([0, 2]);
    expect(shown("cat false")).toEqual([2]);
    expect(shown("")).toEqual([0, 1, 2, 3]);
  });

  it("compares where a column is named", () => {
    expect(shown("score>0.4")).toEqual([0, 3]);
    expect(shown("score<=0.5 right=true")).toEqual([3]);
    expect(shown('"true class"=dog')).toEqual([1]);
    expect(shown('"true class=cat" score!=0.9')).toEqual([2]);
    expect(shown("file~c.")).toEqual([2]);
  });

  it("takes a comparison with an unknown column as a word", () => {
    expect(shown("size>3")).toEqual([]);
    expect(filterOf("size>3", ["a"])(["size>3"])).toBe(true);
  });
});

describe("sorting a table", () => {
  it("keeps rows without a value at the end, both ways", () => {
    expect(shown("", { column: 2, down: false })).toEqual([1, 3, 0, 2]);
    expect(shown("", { column: 2, down: true })).toEqual([0, 3, 1, 2]);
    expect(shown("", { column: 1, down: false })).toEqual([0, 2, 1, 3]);
  });

  it("sorts and filters 100,000 rows in a moment", () => {
    const big = {
      columns: ["n", "word"],
      rows: Array.from({ length: 100_000 }, (_, i) => [(i * 7919) % 100_003, `w${i % 10}`]),
    };
    const start = cpuMs();
    const found = rowsOf(big, "word=w3 n>500", { column: 0, down: true });
    expect(cpuMs() - start).toBeLessThan(1500);
    const values = [...found].map((at) => big.rows[at]?.[0] as number);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(values.every((n) => n > 500)).toBe(true);
    expect(columnWidths(big)).toHaveLength(2);
  });
});

describe("pictures in cells", () => {
  it("are those that the cell itself holds", () => {
    expect(isPicture("data:image/png;base64,iVBORw0KGgo=")).toBe(true);
    for (const cell of [
      "https://example.org/x.png",
      "data:image/svg+xml;base64,PHN2Zz4=",
      "data:text/html;base64,AAAA",
      3,
      null,
    ])
      expect(isPicture(cell)).toBe(false);
  });
});
