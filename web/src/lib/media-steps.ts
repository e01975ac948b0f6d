/** The steps that one slider stops at, for all runs and keys at once. */

/** Every step in any of the lists, in order, once. */
export function unionOf(lists: readonly (readonly number[])[]): number[] {
  const all = new Set<number>();
  for (const list of lists) for (const step of list) all.add(step);
  return [...all].sort((a, b) => a - b);
}

/**
 * Where on the slider a step is: the last stop at or before it; the newest for null, the first for what lies before
 * all.
 */
export function stopOf(steps: readonly number[], step: number | null): number {
  if (step === null) return steps.length - 1;
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) <= step) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** The step at a stop; the last one is null, so that it follows a run that goes on. */
export function stepAt(steps: readonly number[], stop: number): number | null {
  if (stop >= steps.length - 1) return null;
  return steps[Math.max(0, stop)] ?? null;
}

/**
 * The stops whose media are worth fetching before they are asked for: the next two in the direction of travel, one
 * back.
 */
export function neighbours(steps: readonly number[], stop: number, forward: boolean): (number | null)[] {
  const wanted = forward ? [stop + 1, stop + 2, stop - 1] : [stop - 1, stop - 2, stop + 1];
  return wanted.filter((at) => at >= 0 && at < steps.length).map((at) => stepAt(steps, at));
}
