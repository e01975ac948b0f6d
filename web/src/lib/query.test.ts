import { describe, expect, test } from "vitest";
import { caretColumn, completionAt, inProject, quoted, suggest, tokens } from "./query";
import type { RunColumn } from "./schema";

const kinds = (query: string) => tokens(query).map((token) => `${token.kind}:${token.text}`);
const column = (key: string, source = "metric"): RunColumn => ({
  key,
  label: key,
  source,
  type: "number",
  distinct: 3,
});
const columns = [column("status", "run"), column("config.lr", "config"), column("loss.min"), column("val/loss.last")];

describe("tokens", () => {
  test("fields, operators and values are told apart", () => {
    expect(kinds('config.lr<0.01 and status = failed or name ~ "a b"')).toEqual([
      "field:config.lr",
      "operator:<",
      "number:0.01",
      "keyword:and",
      "field:status",
      "operator:=",
      "value:failed",
      "keyword:or",
      "field:name",
      "operator:~",
      'string:"a b"',
    ]);
  });

  test("lists and null", () => {
    expect(kinds("status not in (killed, lost) and config.x is not null")).toEqual([
      "field:status",
      "keyword:not",
      "keyword:in",
      "paren:(",
      "value:killed",
      "comma:,",
      "value:lost",
      "paren:)",
      "keyword:and",
      "field:config.x",
      "keyword:is",
      "keyword:not",
      "keyword:null",
    ]);
  });

  test("quoted parts belong to their name; an open quote runs to the end", () => {
    expect(kinds('config."two words" = 1')).toEqual(['field:config."two words"', "operator:=", "number:1"]);
    expect(kinds('name = "never closed and')).toEqual(["field:name", "operator:=", 'string:"never closed and']);
  });

  test.each(["", "!", "((", "a!b", "= =", "\\", "'", '"\\', "a\nb", "🚀 = 🚀"])(
    "%j is read without a fault",
    (query) => {
      const found = tokens(query);
      expect(found.map((token) => query.slice(token.start, token.end))).toEqual(found.map((token) => token.text));
    },
  );
});

describe("completion", () => {
  test.each([
    ["", 0, "field", ""],
    ["lo", 2, "field", "lo"],
    ["loss.min ", 9, "operator", ""],
    ["status = fa", 11, "value", "fa"],
    ["status = failed ", 16, "join", ""],
    ["status in (killed, lo", 21, "value", "lo"],
    ["status = failed and ", 20, "field", ""],
  ] as const)("in %j at %i a %s is expected", (query, caret, expected, typed) => {
    expect(completionAt(query, caret)).toMatchObject({ expected, typed });
  });

  test("a word in the middle is replaced whole", () => {
    expect(completionAt("los < 1", 2)).toMatchObject({ from: 0, to: 3, typed: "lo" });
  });

  test("fields that begin with what was typed come first", () => {
    expect(suggest(completionAt("lo", 2), columns, []).map((one) => one.label)).toEqual(["loss.min", "val/loss.last"]);
    expect(suggest(completionAt("lr", 2), columns, []).map((one) => one.insert)).toEqual(["config.lr "]);
  });

  test("values are quoted where they must be", () => {
    expect(suggest(completionAt("name = ", 7), columns, ["a b", "plain"]).map((one) => one.insert)).toEqual([
      '"a b" ',
      "plain ",
    ]);
    expect([quoted("and"), quoted('say "hi"'), quoted("1e-3")]).toEqual(['"and"', '"say \\"hi\\""', "1e-3"]);
  });
});

describe("the caret under an error", () => {
  test("is counted in what the person typed, not in what was put before it", () => {
    const asked = inProject("vae", "loss << 1");
    expect(asked.query).toBe('project = "vae" and (loss << 1)');
    expect(caretColumn("loss << 1", asked.query.indexOf("< 1"), asked.prefix)).toBe(6);
  });

  test("agrees with Python about letters outside the basic plane", () => {
    expect(caretColumn("🚀 = = 1", 4, 0)).toBe(5);
  });

  test("is not moved where there is no project", () => {
    expect(inProject("", "x")).toEqual({ query: "x", prefix: 0 });
    expect(inProject('a"b', "")).toEqual({ query: 'project = "a\\"b"', prefix: 0 });
  });
});
