import { describe, expect, test } from "vitest";
import { asksFor, toggled, withRange } from "./query-terms";

describe("a click on a value", () => {
  test.each([
    ["", "status", "failed", "status = failed"],
    ["status = failed", "status", "failed", ""],
    ["status = failed", "status", "lost", "status in (failed, lost)"],
    ["status in (failed, lost)", "status", "failed", "status = lost"],
    ["config.lr < 0.1", "config.opt", "adam w", 'config.lr < 0.1 and config.opt = "adam w"'],
    ['config.opt = "adam w" and status = failed', "config.opt", "adam w", "status = failed"],
    ["tags = a", "tags", "b", "tags = a and tags = b"],
    ["tags = a and tags = b", "tags", "a", "tags = b"],
    ["status = failed or status = lost", "host", "n1", "(status = failed or status = lost) and host = n1"],
    ["(a or b) and status = failed", "status", "failed", "(a or b)"],
    ["word", "config.lr", 0.001, "word and config.lr = 0.001"],
    ["config.amp = true", "config.amp", true, ""],
    ["", "group", null, "group is null"],
    ["status = failed and group is null", "group", null, "status = failed"],
    ['name = "a \\"b\\""', "name", 'a "b"', ""],
  ])("%s, %s %s: %s", (query, field, value, wanted) => {
    expect(toggled(query, field, value)).toBe(wanted);
  });

  test.each([
    ["status = failed", "status", "failed", true],
    ["status == failed", "status", "failed", true],
    ["status != failed", "status", "failed", false],
    ["not status = failed", "status", "failed", false],
    ["config.lr in (0.1, 0.2)", "config.lr", 0.2, true],
    ["a or status = failed", "status", "failed", false],
    ["group is null", "group", null, true],
  ])("%s asks for %s %s: %s", (query, field, value, wanted) => {
    expect(asksFor(query, field, value)).toBe(wanted);
  });
});

test.each([
  ["", "0.1", "", "loss.min >= 0.1"],
  ["status = failed and loss.min >= 3", "0.1", "0.5", "status = failed and loss.min >= 0.1 and loss.min <= 0.5"],
  ["loss.min >= 3", "", "", ""],
  ["a or b", "1", "", "(a or b) and loss.min >= 1"],
])("%s with a range %s to %s: %s", (query, low, high, wanted) => {
  expect(withRange(query, "loss.min", low, high)).toBe(wanted);
});
