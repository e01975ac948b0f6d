import { describe, expect, test } from "vitest";
import { fieldName, pointRows, readySpec, runRows, unknownField } from "./vega-rows";

test.each([
  ["config.lr", "config_lr"],
  ["val/acc.max", "val_acc_max"],
  ['"two words".min', "two_words_min"],
  ["größe", "größe"],
])("%s is the field %s", (key, field) => {
  expect(fieldName(key)).toBe(field);
});

test("a run is a row; its own facts win over a metric of the same name", () => {
  const row = {
    id: "r1",
    name: "one",
    project: "p",
    status: "finished" as const,
    created: 2,
    duration_s: 5,
    tags: [],
    notes: "",
    cells: [0.1, "x"],
    spark: [],
  };
  const [made] = runRows({ rows: [row] } as never, ["config.lr", "status"]);
  expect(made).toEqual({
    config_lr: 0.1,
    run: "r1",
    name: "one",
    project: "p",
    status: "finished",
    created: 2000,
    duration: 5,
  });
});

test("a point is a row", () => {
  expect(pointRows([{ run: "r1", key: "loss", x: [0, 1], value: [2, null] }], () => "one")).toEqual([
    { run: "r1", name: "one", metric: "loss", step: 0, value: 2 },
    { run: "r1", name: "one", metric: "loss", step: 1, value: null },
  ]);
});

describe("a specification", () => {
  const size = { width: 300, height: 200 };
  test("gets data and the panel's size where it has none of its own", () => {
    expect(readySpec('{"mark":"bar"}', { runs: [] }, size)).toEqual({
      data: { name: "runs" },
      width: 300,
      height: 200,
      autosize: { type: "fit", contains: "padding" },
      mark: "bar",
      datasets: { runs: [] },
    });
    expect(readySpec('{"mark":"bar","width":50,"data":{"name":"points"}}', {}, size)).toMatchObject({
      width: 50,
      data: { name: "points" },
    });
    expect(readySpec('{"hconcat":[]}', {}, size)).not.toHaveProperty("width");
  });
  test.each(["{", "3", "[]"])("%s is refused in words", (text) => {
    expect(() => readySpec(text, {}, size)).toThrow(/specification/);
  });
});

test("a field that no row has is named, with what to write", () => {
  const data = { runs: [{ name: "one", val_loss_last: 1, val_loss_min: 1, config_lr: 0.1 }] };
  const why = (encoding: object, more: object = {}) =>
    unknownField(readySpec(JSON.stringify({ mark: "point", encoding, ...more }), data, { width: 9, height: 9 }), data);
  expect(why({ x: { field: "config_lr" }, y: { field: "val/loss" } })).toBe(
    'The data “runs” has no field "val/loss"; use "val_loss_last" or "val_loss_min".',
  );
  expect(why({ x: { field: "lr" } })).toBe('The data “runs” has no field "lr"; use "config_lr".');
  expect(why({ x: { field: "epochs" } })).toBe(
    'The data “runs” has no field "epochs"; it has "config_lr", "name", "val_loss_last", "val_loss_min".',
  );
  const twice = { transform: [{ calculate: "datum.config_lr * 2", as: "twice" }] };
  expect(why({ x: { field: "twice" } }, twice)).toBeNull();
  expect(why({ x: { field: "a" } }, { data: { values: [{ a: 1 }] } })).toBeNull();
});
