/** The colour of a function: by whose code it is, by its file, or by its name. */

import type { Stack } from "./schema";
import { hueOf, pixel } from "./timeline-inks";
import { rgbOf } from "./timeline-rgb";

const YOURS = "your code";

export type FrameColour = "package" | "file" | "function";

/** A pixel for each name of the stack. The user's own code stands out: it is what can be changed. */
export function frameInks(stack: Stack, packages: readonly string[], by: FrameColour, dark: boolean): Uint32Array {
  return Uint32Array.from(stack.names, (name, at) => {
    const owner = packages[at] ?? "";
    if (by === "package") return ink(owner === YOURS ? 34 : hueOf(owner), owner, name, dark);
    return ink(hueOf(by === "file" ? stack.files[at] || owner : name), owner, name, dark);
  });
}

function ink(hue: number, owner: string, name: string, dark: boolean): number {
  const shade = (name.length % 3) - 1;
  const strong = owner === YOURS ? 0.78 : owner === "built in" ? 0.12 : 0.5;
  return pixel(dark ? rgbOf(hue, strong * 0.66, 0.36 + shade * 0.03) : rgbOf(hue, strong, 0.79 - shade * 0.04));
}
