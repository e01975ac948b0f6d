/** The area under a curve that was logged without it. */

/** Under straight lines between the points, as for a ROC curve. */
export function trapezoids(x: readonly number[], y: readonly number[]): number {
  let sum = 0;
  for (let i = 1; i < x.length; i++)
    sum += ((x[i] as number) - (x[i - 1] as number)) * (((y[i] as number) + (y[i - 1] as number)) / 2);
  return Math.abs(sum);
}

/** Average precision: each step of recall counts with the precision it reached. */
export function averagePrecision(recall: readonly number[], precision: readonly number[]): number {
  const order = recall.map((_, i) => i).sort((a, b) => (recall[a] as number) - (recall[b] as number) || a - b);
  let sum = 0;
  for (let k = 1; k < order.length; k++) {
    const i = order[k] as number;
    sum += ((recall[i] as number) - (recall[order[k - 1] as number] as number)) * (precision[i] as number);
  }
  return sum;
}

export interface CurveWords {
  x: string;
  y: string;
  area: string;
  /** Chance, or perfect calibration, is the line from corner to corner. */
  diagonal: boolean;
}

/** What a kind of curve has on its axes, and what its area is called. */
export function curveWords(kind: unknown): CurveWords {
  if (kind === "roc") return { x: "false positive rate", y: "true positive rate", area: "AUC", diagonal: true };
  if (kind === "pr") return { x: "recall", y: "precision", area: "AP", diagonal: false };
  if (kind === "calibration") return { x: "predicted probability", y: "share that is true", area: "", diagonal: true };
  return { x: "", y: "", area: "area", diagonal: false };
}

export function areaOf(kind: unknown, x: readonly number[], y: readonly number[]): number | null {
  if (x.length < 2) return null;
  if (kind === "pr") return averagePrecision(x, y);
  return kind === "calibration" ? null : trapezoids(x, y);
}
