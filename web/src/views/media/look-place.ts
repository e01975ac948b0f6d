/** Which step and which lightbox belong to a picture: a page may hold a board and several strips. */

import type { Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import * as settings from "./settings";

export interface LookPlace {
  /** Names the lightbox that opens for pictures here. */
  owner: string;
  step: Signal<number | null>;
}

export const LookContext = createContext<LookPlace>({ owner: "board", step: settings.step });

export const useLookPlace = (): LookPlace => useContext(LookContext);

/** The step shown here; null follows the newest. */
export const useStep = (): Signal<number | null> => useContext(LookContext).step;

/** On a slider the arrows are its own; the board's keys stay out of it. */
export function keepArrows(event: KeyboardEvent): void {
  const slider = event.target instanceof HTMLInputElement && event.target.type === "range";
  if (slider && /^(Arrow|Home|End|Page)/.test(event.key)) event.stopPropagation();
}
