/** A tiny line as an SVG path. Gaps where values are not finite; the first such place is marked. */

export interface Spark {
  path: string;
  /** Where the values stop being finite, if they do. */
  broken: { x: number; y: number } | null;
  /** The last finite point. */
  end: { x: number; y: number } | null;
}

export function sparkOf(values: readonly (number | null)[], width: number, height: number, pad = 2): Spark {
  const finite = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (finite.length === 0) return { path: "", broken: null, end: null };
  const low = Math.min(...finite);
  const range = Math.max(...finite) - low;
  const stepX = values.length > 1 ? (width - 2 * pad) / (values.length - 1) : 0;
  const place = (value: number, at: number) => ({
    x: round(pad + at * stepX),
    y: round(range === 0 ? height / 2 : height - pad - ((value - low) / range) * (height - 2 * pad)),
  });
  let path = "";
  let end: Spark["end"] = null;
  let broken: Spark["broken"] = null;
  let down = false;
  for (const [at, value] of values.entries()) {
    if (value === null || !Number.isFinite(value)) {
      if (down && !broken && end) broken = end;
      down = false;
      continue;
    }
    end = place(value, at);
    path += `${down ? "L" : "M"}${end.x} ${end.y}`;
    down = true;
  }
  return { path, broken, end };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
