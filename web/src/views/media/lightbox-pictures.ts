/** The pictures of the lightbox: their pixels as logged, and a canvas of each as adjusted. */

import { useEffect, useState } from "preact/hooks";
import { type Decoded, paint, pixelsOf } from "../../charts/pixels";
import { type Adjust, adjusted, isNeutral } from "../../lib/image-adjust";
import type { MediaItem } from "../../lib/schema";

export interface Shown {
  item: MediaItem;
  raw: Decoded | null;
  canvas: HTMLCanvasElement | null;
  fault: string | null;
}

/** Reads and adjusts; a picture of the step before stays until the new one is there. */
export function useShown(items: readonly MediaItem[], adjust: Adjust): Shown[] {
  const [made, setMade] = useState<ReadonlyMap<string, Shown>>(new Map());
  const urls = items.map((item) => `${item.run} ${item.step} ${item.index} ${item.url}`).join("\n");
  useEffect(() => {
    let current = true;
    void Promise.all(items.map((item) => show(item, adjust))).then((all) => {
      if (current) setMade(new Map(all.map((one) => [slot(one.item, items), one])));
    });
    return () => {
      current = false;
    };
  }, [urls, adjust]);
  return items.map((item) => made.get(slot(item, items)) ?? { item, raw: null, canvas: null, fault: null });
}

/** A pane keeps its place while the step changes. */
const slot = (item: MediaItem, items: readonly MediaItem[]): string => `${item.run} ${items.indexOf(item)}`;

async function show(item: MediaItem, adjust: Adjust): Promise<Shown> {
  if (!item.url)
    return { item, raw: null, canvas: null, fault: item.error ?? "The image's bytes are not in the run folder." };
  try {
    const raw = await pixelsOf(item.url);
    const canvas = document.createElement("canvas");
    paint(canvas, isNeutral(adjust) ? raw : adjusted(raw, adjust));
    return { item, raw, canvas, fault: null };
  } catch (fault) {
    return { item, raw: null, canvas: null, fault: fault instanceof Error ? fault.message : String(fault) };
  }
}
