/** The first two principal components of embedding rows, by power iteration: enough for a look at clusters. */

export interface Projected {
  x: Float64Array;
  y: Float64Array;
  /** How much of the variance the two components carry, 0 to 1. */
  explained: number;
}

const ROUNDS = 30;

function centred(rows: Float32Array, count: number, width: number): { data: Float64Array; total: number } {
  const data = new Float64Array(count * width);
  let total = 0;
  for (let j = 0; j < width; j++) {
    let mean = 0;
    for (let i = 0; i < count; i++) mean += finite(rows[i * width + j] as number) / count;
    for (let i = 0; i < count; i++) {
      const v = finite(rows[i * width + j] as number) - mean;
      data[i * width + j] = v;
      total += v * v;
    }
  }
  return { data, total };
}

const finite = (v: number): number => (Number.isFinite(v) ? v : 0);

/** Scores of the leading direction; `data` has it removed afterwards. */
function component(data: Float64Array, count: number, width: number): Float64Array {
  let axis = new Float64Array(width);
  for (let j = 0; j < width; j++) axis[j] = Math.cos(j * 1.7) + 0.01; // Any start that is not orthogonal to the answer.
  const scores = new Float64Array(count);
  for (let round = 0; round < ROUNDS; round++) {
    score(data, axis, scores, count, width);
    const next = new Float64Array(width);
    for (let i = 0; i < count; i++) {
      const s = scores[i] as number;
      for (let j = 0; j < width; j++) next[j] = (next[j] as number) + (data[i * width + j] as number) * s;
    }
    const length = Math.hypot(...next);
    if (!(length > 0)) break;
    axis = next.map((v) => v / length);
  }
  score(data, axis, scores, count, width);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < width; j++)
      data[i * width + j] = (data[i * width + j] as number) - (scores[i] as number) * (axis[j] as number);
  }
  return scores;
}

function score(data: Float64Array, axis: Float64Array, into: Float64Array, count: number, width: number): void {
  for (let i = 0; i < count; i++) {
    let sum = 0;
    for (let j = 0; j < width; j++) sum += (data[i * width + j] as number) * (axis[j] as number);
    into[i] = sum;
  }
}

/** Projects `count` rows of `width` numbers to the plane. */
export function principalPlane(rows: Float32Array, width: number): Projected {
  const count = Math.floor(rows.length / Math.max(1, width));
  const { data, total } = centred(rows, count, width);
  const x = component(data, count, width);
  const y = width > 1 ? component(data, count, width) : new Float64Array(count);
  let kept = 0;
  for (let i = 0; i < count; i++) kept += (x[i] as number) ** 2 + (y[i] as number) ** 2;
  return { x, y, explained: total > 0 ? Math.min(1, kept / total) : 0 };
}
