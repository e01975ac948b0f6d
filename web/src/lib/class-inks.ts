/**
 * Looks of classes: of points that are many and small, where runs' colours, made for a few lines, look too much alike.
 */

import type { Ink } from "./colour";

export type Shape = "circle" | "square" | "triangle";

/**
 * Ten colours that one can name, as far from each other as 3:1 against the background (4:1 on dark, where points are
 * paler) lets them be: 0.14 or more in OKLab, and half of that for eyes that lack red or green cones.
 */
export const CLASS_INKS: readonly Ink[] = [
  { light: "#5f76fc", dark: "#3ba4fc" }, // blue
  { light: "#ed6e12", dark: "#fd8706" }, // orange
  { light: "#1da758", dark: "#4ac777" }, // green
  { light: "#8f3641", dark: "#fd293b" }, // red
  { light: "#583198", dark: "#965ef8" }, // violet
  { light: "#0a6a75", dark: "#64eff7" }, // teal
  { light: "#fc4cc2", dark: "#ef70c0" }, // pink
  { light: "#736b18", dark: "#dbe237" }, // yellow
  { light: "#483323", dark: "#faccb6" }, // brown
  { light: "#7e8792", dark: "#748481" }, // grey
];

const SHAPES: readonly Shape[] = ["circle", "square", "triangle"];
/** More than these cannot be told apart by looks. */
export const MOST_CLASSES = CLASS_INKS.length * SHAPES.length;

export interface ClassLook {
  colour: string;
  shape: Shape;
}

/** The first ten are circles of ten colours, the next ten squares of the same, then triangles. */
export function classLook(at: number, dark: boolean): ClassLook {
  const ink = CLASS_INKS[at % CLASS_INKS.length] as Ink;
  return {
    colour: dark ? ink.dark : ink.light,
    shape: SHAPES[Math.floor(at / CLASS_INKS.length) % SHAPES.length] as Shape,
  };
}
