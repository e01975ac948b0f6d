import { expect, it } from "vitest";
import { lineOf } from "./chart-fixtures";
import type { PlotLine } from "./chart-line";
import { oddSigns } from "./chart-marks";

const at = { x: (v: number) => v, y: (v: number) => v };
const box = { left: 0, top: 0, width: 400, height: 100 };
const odd = (more: Partial<PlotLine>): PlotLine => ({ ...lineOf(Array.from({ length: 400 }, () => 1)), ...more });

it("puts NaN above −Inf at the same step, and +Inf at the ceiling", () => {
  const signs = oddSigns([odd({ nan: [50], negInf: [50], posInf: [50] })], at, box, [0, 400]);
  expect(signs.map(({ kind, x, y }) => [kind, x, y])).toEqual([
    ["posInf", 50, 4],
    ["negInf", 50, 96],
    ["nan", 50, 87],
  ]);
});

it("never lays one sign over another, whatever many runs hold", () => {
  const every = Array.from({ length: 400 }, (_, i) => i);
  const signs = oddSigns(
    [odd({ nan: every, negInf: every }), odd({ nan: every }), odd({ nan: [3, 90], posInf: every })],
    at,
    box,
    [0, 400],
  );
  const over = signs.filter((a) => signs.some((b) => a !== b && Math.abs(a.x - b.x) < 8 && Math.abs(a.y - b.y) < 8));
  expect(over).toEqual([]);
  expect(new Set(signs.map((sign) => sign.line))).toEqual(new Set([0, 1, 2]));
});

it("leaves out what is outside the window", () => {
  expect(oddSigns([odd({ nan: [5, 300] })], at, box, [0, 100]).map((sign) => sign.x)).toEqual([5]);
});
