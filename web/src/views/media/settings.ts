/** How the media are laid out, as signals that live in the address: a link shows the same step of the same pictures. */

import { signal } from "@preact/signals";
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

export const SIZES = { least: 64, most: 640 } as const;
/** By itself a picture takes its share of the room, between these. */
const OWN = { least: 150, most: 300 } as const;
const sizeCodec: Codec<number> = {
  write: number.write,
  read: (value) => {
    const given = number.read(value);
    return given === undefined || given === 0 ? given : heldSize(given);
  },
};
/** Width of a picture in pixels of the screen; 0 for what fits. */
export const size = param<number>("msize", 0, sizeCodec);

function heldSize(px: number): number {
  return Math.max(SIZES.least, Math.min(SIZES.most, Math.round(px)));
}

/** The width that fits so many columns into so much room. */
export function fittingSize(room: number, columns: number): number {
  return Math.max(OWN.least, Math.min(OWN.most, Math.floor(room / Math.max(1, columns))));
}

/** The size in use now, for the slider and the keys. */
export const drawnSize = signal<number>(OWN.most);

export function setSize(px: number): void {
  size.value = heldSize(px);
}
/** A column per run, or one after the other; by itself columns when there are several runs. */
export const layout = param<"auto" | "columns" | "flow">("mlayout", "auto", oneOf("auto", "columns", "flow"));
export const adjust = param("madjust", NEUTRAL, adjustCodec);
