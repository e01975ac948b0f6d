/** The lines of a chart as `POST /api/lines` sends them; views/line_bytes.py says how the bytes lie. */

import { type Answer, type Columns, plotLine } from "./chart-line";
import type { SeriesData } from "./schema";

const MAGIC = 0x4e4c5353;
const NOTHING = new Float64Array(0);

interface Head extends SeriesData {
  columns: readonly number[][];
}

class BadLines extends Error {}

export function unpackLines(bytes: ArrayBuffer): Answer {
  if (bytes.byteLength < 8) throw new BadLines("the server's answer is too short");
  const [magic, length] = new Uint32Array(bytes, 0, 2) as unknown as [number, number];
  if (magic !== MAGIC) throw new BadLines("the server's answer holds no lines");
  if (8 + length > bytes.byteLength) throw new BadLines("the server's answer is cut off");
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Head;
  const body = new Body(bytes, 8 + length);
  return {
    lines: head.lines.map((line, i) => plotLine(line, body.columns(head.columns[i] as number[]))),
    missing: head.missing,
    partial: head.partial,
  };
}

class Body {
  /** Lines over the same x share its column here too. */
  private readonly seen = new Map<string, Float64Array>();

  constructor(
    private readonly bytes: ArrayBuffer,
    private readonly start: number,
  ) {}

  columns([
    numbers = 0,
    x = 0,
    xWidth = 0,
    value = 0,
    valueWidth = 0,
    low = 0,
    lowWidth = 0,
    high = 0,
    highWidth = 0,
    smooth = 0,
    smoothWidth = 0,
  ]: number[]): Columns {
    const values = this.column(value, valueWidth, numbers);
    return {
      x: this.shared(x, xWidth, numbers),
      value: values,
      low: lowWidth ? this.beside(values, low, lowWidth, -1) : values,
      high: highWidth ? this.beside(values, high, highWidth, 1) : values,
      smooth: smoothWidth ? whereKnown(this.column(smooth, smoothWidth, numbers), values) : null,
    };
  }

  private shared(at: number, width: number, numbers: number): Float64Array {
    const id = `${at} ${width} ${numbers}`;
    const column = this.seen.get(id) ?? this.column(at, width, numbers);
    this.seen.set(id, column);
    return column;
  }

  /** A copy: a view would keep the bytes of all lines alive as long as one of them is kept. */
  private column(at: number, width: number, numbers: number): Float64Array {
    return width === 0 ? NOTHING : new Float64Array(this.raw(at, width, numbers));
  }

  private raw(at: number, width: number, numbers: number): Float32Array | Float64Array {
    const from = this.start + at;
    if (from + width * numbers > this.bytes.byteLength) throw new BadLines("the server's answer is cut off");
    return width === 8 ? new Float64Array(this.bytes, from, numbers) : new Float32Array(this.bytes, from, numbers);
  }

  private beside(values: Float64Array, at: number, width: number, sign: 1 | -1): Float64Array {
    const away = this.raw(at, width, values.length);
    const out = new Float64Array(values.length);
    for (let i = 0; i < out.length; i++) out[i] = (values[i] as number) + sign * (away[i] as number);
    return out;
  }
}

/** A smoothed line has no number where the raw one has none: it must not run on through a stretch of NaN. */
function whereKnown(smooth: Float64Array, values: Float64Array): Float64Array {
  for (let i = 0; i < smooth.length; i++) if (Number.isNaN(values[i])) smooth[i] = Number.NaN;
  return smooth;
}
