import { expect, test } from "vitest";
import type { Sheet } from "./schema";
import { sheetSlices } from "./sheet-bars";

const kinds: Sheet = {
  id: "kernel-kinds",
  title: "Kinds",
  columns: [
    { key: "kind", label: "kind" },
    { key: "calls", label: "calls", unit: "count" },
    { key: "total_ns", label: "total", unit: "ns" },
  ],
  rows: [
    ["copy", 3, 10],
    ["gemm", 1, 60],
    ["reduction", 9, 30],
    ["never", 0, 0],
  ],
  sort: "total_ns",
};

test("rows that make up a whole, the largest first; what is nothing is left out", () => {
  const found = sheetSlices(kinds);
  expect(found?.column.key).toBe("total_ns");
  expect(found?.slices.map((one) => [one.name, one.share])).toEqual([
    ["gemm", 0.6],
    ["reduction", 0.3],
    ["copy", 0.1],
  ]);
});

test("the many small ones become one", () => {
  const names = sheetSlices(kinds, 2)?.slices.map((one) => [one.name, one.value]);
  expect(names).toEqual([
    ["gemm", 60],
    ["2 others", 40],
  ]);
});

test("of a tree the largest root is cut", () => {
  const peak: Sheet = {
    id: "memory-peak",
    title: "Peak",
    columns: [
      { key: "what", label: "what" },
      { key: "bytes", label: "bytes", unit: "bytes" },
    ],
    rows: [
      ["CPU", 4],
      ["input", 4],
      ["CUDA 0", 100],
      ["activations", 75],
      ["gradients", 25],
    ],
    levels: [0, 1, 0, 1, 1],
  };
  expect(sheetSlices(peak)).toMatchObject({
    of: "CUDA 0",
    slices: [
      { name: "activations", share: 0.75 },
      { name: "gradients", share: 0.25 },
    ],
  });
});

test("rows are called by the words that tell them apart", () => {
  const stages: Sheet = {
    id: "data-stages",
    title: "Stages",
    columns: [
      { key: "loader", label: "loader" },
      { key: "stage", label: "stage" },
      { key: "mean_ns", label: "mean", unit: "ns" },
      { key: "total_ns", label: "total", unit: "ns" },
    ],
    rows: [
      ["train.py:3", "fetch", 1, 80],
      ["train.py:3", "collate", 5, 20],
    ],
    sort: "share",
  };
  expect(sheetSlices(stages)?.slices.map((one) => [one.name, one.value])).toEqual([
    ["fetch", 80],
    ["collate", 20],
  ]);
});

test("without an amount of time or bytes there is nothing to draw", () => {
  expect(sheetSlices({ ...kinds, columns: kinds.columns.slice(0, 2) })).toBeNull();
});
