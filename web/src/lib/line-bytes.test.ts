import { expect, test } from "vitest";
import { rawLine } from "./chart-fixtures";
import { plotLine } from "./chart-line";
import { unpackLines } from "./line-bytes";
import type { Line } from "./schema";

/** An answer as views/line_bytes.py describes it. */
function laidOut(lines: Line[], places: number[][], columns: (Float32Array | Float64Array)[]): ArrayBuffer {
  const bare = lines.map((line) => ({ ...line, x: [], value: [], low: [], high: [], smooth: null }));
  const text = JSON.stringify({ lines: bare, columns: places, missing: ["ü"], partial: false });
  const raw = new TextEncoder().encode(text);
  const head = new Uint8Array(Math.ceil(raw.length / 8) * 8).fill(32);
  head.set(raw);
  const size = columns.reduce((sum, column) => sum + Math.ceil(column.byteLength / 8) * 8, 0);
  const out = new Uint8Array(8 + head.length + size);
  out.set(new TextEncoder().encode("SSLN"));
  new DataView(out.buffer).setUint32(4, head.length, true);
  out.set(head, 8);
  let at = 8 + head.length;
  for (const column of columns) {
    out.set(new Uint8Array(column.buffer), at);
    at += Math.ceil(column.byteLength / 8) * 8;
  }
  return out.buffer;
}

const plain = rawLine([0.1, null, 0.3], {
  x: [0, 1, 2],
  low: [0.05, null, 0.3],
  high: [0.25, null, 0.3],
  smooth: [0.1, 0.2, 0.3],
  nan: [1],
  nan_x: [1],
});
const columns = [
  Float32Array.of(0, 1, 2),
  Float64Array.of(0.1, Number.NaN, 0.3),
  Float32Array.of(0.05, Number.NaN, 0),
  Float32Array.of(0.15, Number.NaN, 0),
  Float64Array.of(0.1, 0.2, 0.3),
]; // prettier-ignore
const places = [3, 0, 4, 16, 8, 40, 4, 56, 4, 72, 8];

test("a line of bytes is the line that was sent plainly", () => {
  const answer = unpackLines(laidOut([plain], [places], columns));
  const [a, b] = [plotLine(plain), answer.lines[0] as ReturnType<typeof plotLine>];
  expect(answer.missing).toEqual(["ü"]);
  expect({ ...b, low: 0, high: 0 }).toEqual({ ...a, low: 0, high: 0 });
  for (const side of ["low", "high"] as const)
    expect([...b[side]].map((v) => v.toFixed(6))).toEqual([...a[side]].map((v) => v.toFixed(6)));
});

test("lines share x, and need no extremes and no points", () => {
  const bare = [3, 0, 4, 16, 8, 0, 0, 0, 0, 0, 0];
  const { lines } = unpackLines(
    laidOut([plain, plain, rawLine([])], [bare, bare, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]], columns),
  );
  expect(lines[0]?.x).toBe(lines[1]?.x);
  expect(lines[0]?.high).toBe(lines[0]?.value);
  expect(lines[0]?.smooth).toBe(null);
  expect(lines[2]?.x.length).toBe(0);
});

test("bytes that are no lines are refused", () => {
  const whole = laidOut([plain], [places], columns);
  expect(() => unpackLines(whole.slice(0, 4))).toThrow("too short");
  expect(() => unpackLines(whole.slice(0, 40))).toThrow("cut off");
  expect(() => unpackLines(whole.slice(0, whole.byteLength - 8))).toThrow("cut off");
  expect(() => unpackLines(new ArrayBuffer(64))).toThrow("no lines");
});
