import { expect, test } from "vitest";
import { plotLine } from "./chart-line";
import { unpack } from "./packed";
import type { Line } from "./schema";

const encoded = (values: Float32Array | Float64Array): string => `f${values.BYTES_PER_ELEMENT}:${btoa(String.fromCharCode(...new Uint8Array(values.buffer)))}`;

test("both widths come back, NaN and infinities too", () => {
  expect([...unpack(encoded(Float64Array.of(0.1, Number.NaN, -Infinity)))]).toEqual([0.1, Number.NaN, -Infinity]);
  expect([...unpack(encoded(Float32Array.of(1.5, 3)))]).toEqual([1.5, 3]);
  expect(() => unpack("zz:AAAA")).toThrow("f4: or f8:");
});

test("a packed line is the line that was sent plainly", () => {
  const plain: Line = {
    run: "A", key: "loss", rank: 0, x: [0, 1, 2], value: [0.1, null, 0.3], low: [0.05, null, 0.3], high: [0.25, null, 0.3], smooth: [0.1, 0.2, 0.3],
    nan: [1], inf: [], points: 9, superseded: false, last: 0.3, version: 1, nan_x: [1], inf_x: [], packed: null,
  }; // prettier-ignore
  const packed: Line = {
    ...plain, x: [], value: [], low: [], high: [], smooth: null,
    packed: {
      x: encoded(Float32Array.of(0, 1, 2)), value: encoded(Float64Array.of(0.1, Number.NaN, 0.3)), low: encoded(Float32Array.of(0.05, Number.NaN, 0)),
      high: encoded(Float32Array.of(0.15, Number.NaN, 0)), smooth: encoded(Float64Array.of(0.1, 0.2, 0.3)),
    },
  }; // prettier-ignore
  const [a, b] = [plotLine(plain), plotLine(packed)];
  expect([...b.x]).toEqual([...a.x]);
  expect([...b.value]).toEqual([...a.value]);
  expect([...(b.smooth ?? [])]).toEqual([...(a.smooth ?? [])]);
  for (const [i, low] of a.low.entries()) if (!Number.isNaN(low)) expect(b.low[i]).toBeCloseTo(low, 7);
  for (const [i, high] of a.high.entries()) if (!Number.isNaN(high)) expect(b.high[i]).toBeCloseTo(high, 7);
});
