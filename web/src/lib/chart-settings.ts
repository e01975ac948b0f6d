/** What the toolbar holds, and how each part is written into the address. */

import type { Range } from "./chart-line";
import { type Zooms, usable } from "./chart-zoom";
import type { Smoothing } from "./schema";
import { type Codec, json } from "./url";

export type SmoothingKind = NonNullable<Smoothing["kind"]>;
export interface Smooth {
  kind: SmoothingKind;
  amount: number;
}

export const NO_SMOOTHING: Smooth = { kind: "none", amount: 0 };
export const SMOOTHINGS: Record<
  SmoothingKind,
  { label: string; max: number; step: number; start: number; hint: string }
> = {
  none: { label: "None", max: 0, step: 0, start: 0, hint: "" },
  ema: { label: "Exponential", max: 0.999, step: 0.001, start: 0.6, hint: "weight of the past" },
  gaussian: { label: "Gaussian", max: 100, step: 1, start: 5, hint: "width in points" },
  mean: { label: "Running mean", max: 200, step: 1, start: 10, hint: "width in points" },
};

/** A smoothing with its amount inside the allowed range. */
export function smoothOf(kind: SmoothingKind, amount: number): Smooth {
  const { max } = SMOOTHINGS[kind];
  return kind === "none" ? NO_SMOOTHING : { kind, amount: Math.min(max, Math.max(0, amount)) };
}

/** Sliders move evenly; the exponential weight is stretched near 1, where it matters. */
export const sliderOf = ({ kind, amount }: Smooth): number =>
  kind === "ema" ? Math.log10(1 - amount * 0.999) / -3 : amount / (SMOOTHINGS[kind].max || 1);
export function amountAt(kind: SmoothingKind, slider: number): number {
  const { max, step } = SMOOTHINGS[kind];
  const raw = kind === "ema" ? (1 - 10 ** (-3 * slider)) / 0.999 : slider * max;
  return step ? Number((Math.round(raw / step) * step).toFixed(3)) : 0;
}

export const smoothCodec: Codec<Smooth> = {
  write: ({ kind, amount }) => (kind === "none" ? "" : `${kind}:${amount}`),
  read(text) {
    const [kind, amount] = text.split(":");
    if (!kind || !(kind in SMOOTHINGS) || !Number.isFinite(Number(amount))) return undefined;
    return smoothOf(kind as SmoothingKind, Number(amount));
  },
};

function isRange(value: unknown): value is Range {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((v) => typeof v === "number") &&
    usable(value as unknown as Range)
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const zoomJson = json((value): value is Zooms => isObject(value) && Object.values(value).every(isRange));

/** `100:250` for the step axis, which is nearly always the only one; JSON for others. */
export const zoomCodec: Codec<Zooms> = {
  write(zooms) {
    const names = Object.keys(zooms);
    if (names.length === 0) return "";
    if (names.length === 1 && zooms.step) return zooms.step.join(":");
    return zoomJson.write(zooms);
  },
  read(text) {
    if (text.startsWith("{")) return zoomJson.read(text);
    const range = text.split(":").map(Number);
    return isRange(range) ? { step: range } : undefined;
  },
};

/** What one panel has of its own. */
export interface PanelOptions {
  /** Overrides the toolbar's log y. */
  log?: boolean;
  /** A y-range of its own. */
  y?: Range;
  /** Media: the step shown, instead of the newest. */
  step?: number;
  /** Media: which of a list. */
  item?: number;
}
export type AllPanelOptions = Readonly<Record<string, PanelOptions>>;

const isOptions = (value: unknown): value is PanelOptions =>
  isObject(value) &&
  (value.log === undefined || typeof value.log === "boolean") &&
  (value.y === undefined || isRange(value.y)) &&
  [value.step, value.item].every((one) => one === undefined || Number.isSafeInteger(one));

export const panelOptionsCodec: Codec<AllPanelOptions> = (() => {
  const inner = json((value): value is AllPanelOptions => isObject(value) && Object.values(value).every(isOptions));
  return { write: (all) => (Object.keys(all).length ? inner.write(all) : ""), read: inner.read };
})();

/** Sets or drops a panel's own options. */
export function withOptions(all: AllPanelOptions, key: string, change: PanelOptions): AllPanelOptions {
  const { [key]: old, ...rest } = all;
  const next = Object.fromEntries(Object.entries({ ...old, ...change }).filter(([, v]) => v !== undefined));
  return Object.keys(next).length ? { ...rest, [key]: next } : rest;
}

/** The x-axis a panel draws over: the toolbar's, unless that is the step and the metric asks for its own. */
export const panelX = (chosen: string, own: string | null | undefined): string =>
  chosen === "step" && own ? own : chosen;

const X_LABELS: Record<string, string> = { step: "Step", relative: "Relative time", wall: "Wall time" };
export const xLabel = (x: string): string => X_LABELS[x] ?? x;
