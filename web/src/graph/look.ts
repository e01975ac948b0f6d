/** How items look under the chosen colour: a heat from 0 to 1, or shares of kinds, or a mark. */

import type { Signal } from "@preact/signals";
import { PALETTE } from "../lib/colour";
import { amountOf, type ColourBy, heat, isAmount, isNonfinite, kindsOf, palette } from "../lib/graph-measure";
import { boxAt, type Item, nodeAt } from "../lib/graph-model";
import type { SceneItem } from "../lib/graph-scene";
import type { Shown } from "../lib/graph-shown";

export interface Look {
  /** 0 to 1; null: not measured, or no amount is shown. */
  heat: number | null;
  amount: number | null;
  /** Kinds inside with their share, as numbers of the palette. */
  kinds: readonly { ink: number; share: number; name: string }[];
  bad: boolean;
  failed: boolean;
}

export interface Looks {
  of(item: Item): Look;
  /** The hottest amount on the drawing. */
  largest: number;
  inks: ReadonlyMap<string, number>;
}

/** Open boxes are left out of the scale: they would always be the hottest, and what is in them is seen. */
export function looksOf(shown: Shown, by: ColourBy, items: readonly SceneItem[]): Looks {
  const amounts = new Map<Item, number | null>();
  if (isAmount(by)) for (const { item, open } of items) if (!open) amounts.set(item, amountOf(shown, item, by));
  const largest = Math.max(0, ...[...amounts.values()].map((value) => value ?? 0));
  const inks = by === "dtype" || by === "device" || by === "phase" ? palette(shown, by) : new Map<string, number>();
  const known = new Map<Item, Look>();
  const make = (item: Item): Look => {
    const amount = amounts.get(item) ?? null;
    const counted = by === "dtype" || by === "device" || by === "phase" ? kindsOf(shown, item, by) : [];
    const total = counted.reduce((sum, [, count]) => sum + count, 0);
    const failed = (boxAt(shown.model, item)?.error ?? nodeAt(shown.model, item)?.error ?? null) !== null;
    return {
      heat: amounts.has(item) ? heat(amount, largest) : null,
      amount,
      kinds: counted.map(([name, count]) => ({ ink: inks.get(name) ?? 0, share: count / total, name })),
      bad: by === "nonfinite" && isNonfinite(shown, item),
      failed,
    };
  };
  return {
    largest,
    inks,
    of(item) {
      let look = known.get(item);
      if (!look) known.set(item, (look = make(item)));
      return look;
    },
  };
}

/** Both themes' inks as custom properties; the style sheet takes the one it needs. */
export function inkStyle(at: number): Record<string, string> {
  const ink = PALETTE[at % PALETTE.length] as (typeof PALETTE)[number];
  return { "--ink-light": ink.light, "--ink-dark": ink.dark };
}

export type ColourSignal = Signal<ColourBy>;
