import { expect, test } from "vitest";
import { csvOf } from "./runs-csv";
import type { RunRow } from "./schema";

function row(name: string, cells: RunRow["cells"]): RunRow {
  return {
    id: "01A",
    name,
    project: "vae",
    status: "finished",
    created: 0,
    duration_s: 2.5,
    tags: ["a", "b"],
    notes: 'say "hi"',
    cells,
    spark: [],
    findings: 0,
    errors: 0,
    dropped: 0,
    version: 1,
    hue: 0,
  };
}

test("one line for each run, with what is shown", () => {
  const text = csvOf(["status", "created", "loss", "tags", "notes"], (key) => key, [row("otter", [0.5])], ["loss"]);
  expect(text).toBe(
    'id,name,status,created,loss,tags,notes\r\n01A,otter,finished,1970-01-01T00:00:00.000Z,0.5,a b,"say ""hi"""\r\n',
  );
});

test("nothing in it computes", () => {
  const text = csvOf(["loss"], (key) => key, [row("=HYPERLINK(1)", ["-Infinity"]), row("-x", [-3])], ["loss"]);
  expect(text.split("\r\n").slice(1, 3)).toEqual(["01A,'=HYPERLINK(1),-Infinity", "01A,'-x,-3"]);
});
