/**
 * Points in the plane or in space: where they are on the screen, what colour they have, which one is under the pointer.
 */

import { mapColour } from "./colour-maps";
import { classLook, MOST_CLASSES, type Shape } from "./class-inks";

/** Three numbers for each point, within a ball of radius 1 around the middle. */
export type Cloud = Float32Array;

/** Centred, and scaled so that all but the few farthest points lie within 1. */
export function cloudOf(x: readonly number[], y: readonly number[], z: readonly number[]): Cloud {
  const cloud = new Float32Array(x.length * 3);
  const mean = (all: readonly number[]) => (all.length ? all.reduce((sum, v) => sum + v, 0) / all.length : 0);
  const [mx, my, mz] = [mean(x), mean(y), mean(z)];
  const far: number[] = [];
  for (let i = 0; i < x.length; i++) {
    cloud[3 * i] = (x[i] as number) - mx;
    cloud[3 * i + 1] = (y[i] ?? 0) - my;
    cloud[3 * i + 2] = (z[i] ?? 0) - mz;
    far.push(Math.hypot(cloud[3 * i] as number, cloud[3 * i + 1] as number, cloud[3 * i + 2] as number));
  }
  far.sort((a, b) => a - b);
  const reach = far[Math.floor(0.99 * (far.length - 1))] || far[far.length - 1] || 1;
  return cloud.map((v) => v / reach);
}

export interface View {
  yaw: number;
  pitch: number;
  zoom: number;
  /** Moved on the screen, in parts of its smaller side. */
  panX: number;
  panY: number;
}

export const FRONT: View = { yaw: 0, pitch: 0, zoom: 1, panX: 0, panY: 0 };
/** Space is looked at a little from the side, or it would look like a plane. */
export const ASLANT: View = { ...FRONT, yaw: 0.6, pitch: 0.35 };

export interface Screen {
  x: Float32Array;
  y: Float32Array;
  /** Nearness, 0 to 1. */
  near: Float32Array;
}

export function onScreen(cloud: Cloud, view: View, width: number, height: number): Screen {
  const count = cloud.length / 3;
  const out: Screen = { x: new Float32Array(count), y: new Float32Array(count), near: new Float32Array(count) };
  const side = Math.min(width, height);
  const scale = side * 0.52 * view.zoom;
  const [cy, sy, cp, sp] = [Math.cos(view.yaw), Math.sin(view.yaw), Math.cos(view.pitch), Math.sin(view.pitch)];
  for (let i = 0; i < count; i++) {
    const [x, y, z] = [cloud[3 * i] as number, cloud[3 * i + 1] as number, cloud[3 * i + 2] as number];
    const rx = cy * x + sy * z;
    const rz = -sy * x + cy * z;
    const ry = cp * y - sp * rz;
    const depth = sp * y + cp * rz;
    out.x[i] = width / 2 + view.panX * side + rx * scale;
    out.y[i] = height / 2 + view.panY * side - ry * scale;
    out.near[i] = Math.max(0, Math.min(1, (depth + 1) / 2));
  }
  return out;
}

/** The nearest point no farther than `most` pixels; of equals the one in front. */
export function pointAt(screen: Screen, px: number, py: number, most: number): number {
  let found = -1;
  let least = most;
  for (let i = 0; i < screen.x.length; i++) {
    const far = Math.hypot((screen.x[i] as number) - px, (screen.y[i] as number) - py);
    if (far < least || (far === least && found >= 0 && (screen.near[i] as number) > (screen.near[found] as number)))
      [least, found] = [far, i];
  }
  return found;
}

/** The points inside a rectangle of the screen. */
export function pointsIn(screen: Screen, left: number, top: number, right: number, bottom: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < screen.x.length; i++) {
    const [x, y] = [screen.x[i] as number, screen.y[i] as number];
    if (x >= left && x <= right && y >= top && y <= bottom) found.push(i);
  }
  return found;
}

export interface Colouring {
  /** One for each point. */
  colours: string[];
  /** One for each point; empty when all are circles. */
  shapes: Shape[];
  /** Classes with their looks; empty for numbers. */
  classes: { name: string; colour: string; shape: Shape; count: number }[];
  /** The least and the greatest, for numbers. */
  range: [number, number] | null;
  /** How many classes there are when they are too many to have colours, else 0. */
  tooMany: number;
}

const GREY = "#8a8c95";

/** Few different values are classes; many numbers are a scale. */
export function colouringOf(
  values: readonly unknown[] | null,
  count: number,
  dark: boolean,
  single: string,
): Colouring {
  const plain = { shapes: [], classes: [], range: null, tooMany: 0 };
  const alike = new Array<string>(count).fill(single);
  if (!values) return { ...plain, colours: alike };
  const counts = new Map<string, number>();
  for (const value of values) counts.set(String(value ?? ""), (counts.get(String(value ?? "")) ?? 0) + 1);
  if (counts.size <= MOST_CLASSES) {
    const names = [...counts.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const looks = names.map((_, i) => classLook(i, dark));
    const places = new Map(names.map((name, i) => [name, i]));
    const ofPoints = values.map((v) => looks[places.get(String(v ?? "")) as number] as (typeof looks)[number]);
    const shapes = looks.some(({ shape }) => shape !== "circle") ? ofPoints.map(({ shape }) => shape) : [];
    const classes = names.map((name, i) => ({
      name,
      ...(looks[i] as (typeof looks)[number]),
      count: counts.get(name) as number,
    }));
    return { ...plain, colours: ofPoints.map(({ colour }) => colour), shapes, classes };
  }
  const numbers = values.filter((v): v is number => typeof v === "number" && Number.isFinite(v));
  if (numbers.length < values.length / 2) return { ...plain, colours: alike, tooMany: counts.size };
  const low = numbers.reduce((a, b) => Math.min(a, b));
  const high = numbers.reduce((a, b) => Math.max(a, b));
  const colours = values.map((v) =>
    typeof v === "number" && Number.isFinite(v)
      ? mapColour("viridis", high > low ? (v - low) / (high - low) : 0.5)
      : GREY,
  );
  return { ...plain, colours, range: [low, high] };
}

/** The points of which anything known contains the words. */
export function matching(columns: readonly { values: readonly unknown[] }[], words: string): Set<number> | null {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return null;
  const found = new Set<number>();
  for (const { values } of columns)
    values.forEach(
      (value, i) =>
        String(value ?? "")
          .toLowerCase()
          .includes(wanted) && found.add(i),
    );
  return found;
}
