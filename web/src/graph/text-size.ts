/** How much room captions take, measured with the fonts of the page. */

import type { Item } from "../lib/graph-model";
import { nodeAt } from "../lib/graph-model";
import type { Sizes } from "../lib/graph-scene";
import { isBox, type Shown } from "../lib/graph-shown";
import { captionOf, cut } from "../lib/graph-words";

/** Widths are rounded up to this, so that blocks that differ only in a digit of their names share a layout. */
const GRID = 8;
const OP_HEIGHT = 26;
const BOX_HEIGHT = 44;
/** For the caret and the badge on a closed box. */
const BOX_EXTRA = 40;
/** For the number beside the class of a closed box: `12.3 ms`. */
const AMOUNT = 50;

export interface Fonts {
  box: string;
  detail: string;
  op: string;
  label: string;
}

function readFonts(): Fonts {
  const plain = getComputedStyle(document.body).fontFamily;
  const mono = getComputedStyle(document.documentElement).getPropertyValue("--mono").trim() || "monospace";
  return {
    box: `600 12.5px ${plain}`,
    detail: `400 11px ${plain}`,
    op: `500 11.5px ${mono}`,
    label: `400 10px ${mono}`,
  };
}

export function measureText(): (shown: Shown) => Sizes {
  const context = document.createElement("canvas").getContext("2d");
  const fonts = readFonts();
  const known = new Map<string, number>();
  const width = (text: string, font: string): number => {
    const key = `${font}|${text}`;
    let found = known.get(key);
    if (found === undefined) {
      if (context) context.font = font;
      known.set(key, (found = context ? context.measureText(text).width : text.length * 7));
    }
    return found;
  };
  const grid = (value: number) => Math.ceil(value / GRID) * GRID;
  const boxWidth = (shown: Shown, item: Item): number => {
    const { title, detail, badge } = captionOf(shown, item);
    return Math.max(width(cut(title), fonts.box) + width(badge, fonts.box), width(cut(detail), fonts.detail) + AMOUNT);
  };
  return (shown) => ({
    closed: (item) => {
      if (isBox(shown, item)) return { w: grid(Math.max(112, boxWidth(shown, item) + BOX_EXTRA)), h: BOX_HEIGHT };
      const title = cut(nodeAt(shown.model, item)?.name ?? "");
      return { w: grid(Math.max(48, width(title, fonts.op) + 22)), h: OP_HEIGHT };
    },
    heading: (item) => {
      const { title, detail, badge } = captionOf(shown, item);
      return grid(width(cut(title), fonts.box) + width(cut(detail), fonts.detail) + width(badge, fonts.box) + 76);
    },
    label: (text) => Math.ceil(width(text, fonts.label)) + 8,
  });
}
