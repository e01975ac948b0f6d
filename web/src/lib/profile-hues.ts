/**
 * Colours by what a thing is: the same in every breakdown and curve of a profile. The numbers are places in the
 * palette.
 */

const HUES: Record<string, number> = {
  // phases of a step
  data: 1,
  h2d: 6,
  forward: 0,
  backward: 5,
  optimizer: 2,
  // what a device does
  kernel: 0,
  kernels: 0,
  computation: 0,
  communication: 3,
  exposed: 3,
  memcpy: 6,
  copy: 6,
  copies: 6,
  memset: 7,
  runtime: 4,
  host: 7,
  sync: 2,
  // what memory holds
  parameters: 0,
  gradients: 5,
  activations: 1,
  temporaries: 6,
  input: 3,
  buffers: 4,
}; // prettier-ignore

/** Idle, other, unknown: grey, because nothing useful is known of it. No place of the palette. */
export const GREY = -1;
const SPARE = [0, 1, 2, 3, 4, 5, 6, 7];

/**
 * A hue for each name: known ones have their own, the rest what is left, and no two share one while there are enough.
 */
export function hues(names: readonly string[]): number[] {
  const found = names.map((name) => {
    const key = name.toLowerCase();
    if (/^(other|idle|rest|unknown|outside|\d+ others)/.test(key)) return GREY;
    return HUES[key] ?? HUES[key.split(/[_\-. ]/)[0] ?? ""]; // computation_ns, optimizer state
  });
  const taken = new Set<number>();
  const own = found.map((hue) => {
    if (hue === undefined || hue === GREY) return hue;
    if (taken.has(hue)) return undefined;
    taken.add(hue);
    return hue;
  });
  const spare = SPARE.filter((hue) => !taken.has(hue));
  let next = 0;
  return own.map((hue) => hue ?? spare[next++ % Math.max(1, spare.length)] ?? GREY);
}
