/** How the media are laid out, as signals that live in the address: a link shows the same step of the same pictures. */

import { adjustCodec, NEUTRAL } from "../../lib/image-adjust";
import { type Codec, number, oneOf, text } from "../../lib/url";
import { param } from "../../router";

const stepCodec: Codec<number | null> = {
  write: (value) => (value === null ? "" : String(value)),
  read: (value) => number.read(value),
};

/** The step shown everywhere on the board; null follows the newest. */
export const step = param<number | null>("mstep", null, stepCodec);
export const find = param("mfind", "", text);
/** The one kind shown, or "" for all. */
export const kind = param("mkind", "", text);

export const SIZES = { least: 64, most: 640, usual: 200 } as const;
const sizeCodec: Codec<number> = {
  write: number.write,
  read: (value) => {
    const given = number.read(value);
    return given === undefined ? undefined : Math.max(SIZES.least, Math.min(SIZES.most, Math.round(given)));
  },
};
/** Width of a picture in pixels of the screen. */
export const size = param<number>("msize", SIZES.usual, sizeCodec);
/** A column per run, or one after the other; by itself columns when there are several runs. */
export const layout = param<"auto" | "columns" | "flow">("mlayout", "auto", oneOf("auto", "columns", "flow"));
export const adjust = param("madjust", NEUTRAL, adjustCodec);
