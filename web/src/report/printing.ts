/** Printing a file: everything is drawn, in light colours, as wide as the paper. And links that lead nowhere are none. */

import type { Signal } from "@preact/signals";
import { isDark, themeChoice } from "../theme";

/** Panels out of sight are drawn too when nothing else is to be done, so that printing finds them drawn. */
const DRAW_ALL_AFTER_MS = 1500;

export function preparePrinting(everything: Signal<boolean>): void {
  const root = document.documentElement;
  const unfold = () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  };
  if (location.hash === "#print") {
    root.dataset.paper = "";
    themeChoice.value = "light";
    everything.value = true;
    setInterval(unfold, 300);
    return;
  }
  setTimeout(() => (everything.value = true), DRAW_ALL_AFTER_MS);
  let before = themeChoice.peek();
  addEventListener("beforeprint", () => {
    before = themeChoice.peek();
    if (isDark.peek()) themeChoice.value = "light";
    everything.value = true;
    unfold();
  });
  addEventListener("afterprint", () => (themeChoice.value = before));
}

/** Components of the app link to its pages. There are none here: such a link becomes the text it is. */
export function deadLinks(app: HTMLElement): void {
  const clear = () => {
    for (const link of app.querySelectorAll('a[href^="#/"]')) link.removeAttribute("href");
  };
  new MutationObserver(clear).observe(app, { childList: true, subtree: true, attributes: true, attributeFilter: ["href"] });
}
